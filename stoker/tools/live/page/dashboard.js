'use strict';
(() => {
  // Texts of a run go into the document by textContent alone, so that no name of a file is taken for HTML.
  const byId = (id) => document.getElementById(id);
  const MOST = 900;  // points that a chart keeps; more are joined in pairs

  // ---- figures as text
  const isNumber = (x) => typeof x === 'number' && Number.isFinite(x);
  const figure = (x) => {
    if (!isNumber(x)) return '–';
    if (x === 0) return '0';
    const size = Math.abs(x);
    if (size >= 1000) return Math.round(x).toLocaleString('en');
    if (size < 0.001) return x.toExponential(2);
    return String(Number(x.toPrecision(4)));
  };
  const percent = (x) => (isNumber(x) ? `${(100 * x).toFixed(0)} %` : '–');
  const bytes = (x) => {
    if (!isNumber(x)) return '–';
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let i = 0;
    while (Math.abs(x) >= 1000 && i < units.length - 1) { x /= 1000; ++i; }
    return `${Number(x.toPrecision(3))} ${units[i]}`;
  };
  const duration = (s) => {
    if (!isNumber(s)) return '–';
    if (s < 100) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
    const minutes = Math.floor(s / 60);
    return minutes < 120 ? `${minutes} min ${String(Math.floor(s % 60)).padStart(2, '0')} s`
      : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
  };
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- charts
  // Rows [x, y0, y1, ...]; of too many, neighbours are joined, like on the server.
  class Rows {
    constructor() { this.rows = []; this.stride = 1; this.part = []; }
    set(rows) { this.rows = rows.slice(); this.stride = 1; this.part = []; this.halve(); }
    add(row) {
      this.part.push(row);
      if (this.part.length < this.stride) return;
      this.rows.push(Rows.mean(this.part));
      this.part = [];
      this.halve();
    }
    halve() {
      while (this.rows.length > 2 * MOST) {
        const joined = [];
        for (let i = 0; i + 1 < this.rows.length; i += 2) joined.push(Rows.mean(this.rows.slice(i, i + 2)));
        this.rows = joined;
        this.stride *= 2;
      }
    }
    static mean(rows) {
      return rows[0].map((_, column) => {
        const known = rows.map((row) => row[column]).filter(isNumber);
        return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
      });
    }
  }

  const ticksOf = (low, high) => {
    const span = high - low || Math.abs(high) || 1;
    let step = 10 ** Math.floor(Math.log10(span / 3));
    for (const factor of [5, 2]) if (span / (step * factor) >= 2.5) { step *= factor; break; }
    const ticks = [];
    for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9 && ticks.length < 12; at += step) ticks.push(at);
    return ticks;
  };

  const fit = (canvas) => {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = '12px system-ui, sans-serif';
    return { context, width, height };
  };

  const charts = [];
  class Chart {
    // series: [{name, color, marks}]; format: of y; formatX: of x
    constructor(title, series, format, formatX) {
      Object.assign(this, { title, series, format, formatX, data: new Rows(), cursor: null, dirty: true });
      this.figure = document.createElement('figure');
      const caption = document.createElement('figcaption');
      caption.append(document.createElement('span'), document.createElement('output'));
      caption.firstChild.textContent = title;
      this.output = caption.lastChild;
      this.canvas = document.createElement('canvas');
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute('role', 'img');
      this.canvas.setAttribute('aria-label', title);
      this.figure.append(caption, this.canvas);
      this.figure.hidden = true;
      byId('charts').append(this.figure);
      this.listen();
      charts.push(this);
    }
    listen() {
      const canvas = this.canvas;
      canvas.addEventListener('pointermove', (event) => {
        const { low, high } = this.rangeX();
        const share = (event.offsetX - 56) / Math.max(1, canvas.clientWidth - 64);
        this.moveTo(this.nearest(low + share * (high - low)));
      });
      canvas.addEventListener('pointerleave', () => this.moveTo(null));
      canvas.addEventListener('blur', () => this.moveTo(null));
      canvas.addEventListener('keydown', (event) => {
        const last = this.data.rows.length - 1;
        const now = this.cursor ?? last;
        const far = Math.max(1, Math.round(last / 10));
        const to = { ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now - far, PageDown: now + far, Home: 0, End: last }[event.key];
        if (to === undefined || last < 0) return;
        event.preventDefault();
        this.moveTo(Math.min(last, Math.max(0, to)));
        byId('spoken').textContent = `${this.title}: ${this.output.textContent}`;
      });
    }
    moveTo(index) { this.cursor = index; this.dirty = true; }
    nearest(x) {
      let best = null, distance = Infinity;
      this.data.rows.forEach((row, i) => {
        if (Math.abs(row[0] - x) < distance) { distance = Math.abs(row[0] - x); best = i; }
      });
      return best;
    }
    set(rows) { this.data.set(rows); this.changed(); }
    add(row) { this.data.add(row); this.changed(); }
    changed() {
      this.dirty = true;
      this.figure.hidden = !this.data.rows.some((row) => row.slice(1).some(isNumber));
    }
    rangeX() {
      const rows = this.data.rows;
      return rows.length ? { low: rows[0][0], high: rows[rows.length - 1][0] } : { low: 0, high: 1 };
    }
    rangeY() {
      let low = Infinity, high = -Infinity;
      for (const row of this.data.rows) for (const y of row.slice(1)) if (isNumber(y)) { low = Math.min(low, y); high = Math.max(high, y); }
      if (low > high) return { low: 0, high: 1 };
      if (low >= 0 && low < 0.5 * high) low = 0;
      return high > low ? { low, high } : { low: low - 0.5 * Math.abs(low || 1), high: high + 0.5 * Math.abs(high || 1) };
    }
    say() {
      const rows = this.data.rows;
      const row = rows[this.cursor ?? rows.length - 1];
      if (!row) return;
      this.output.replaceChildren(`${this.formatX(row[0])}: `);
      let between = '';
      this.series.forEach((series, i) => {
        if (!isNumber(row[i + 1])) return;
        const part = document.createElement('span');
        part.className = series.color.slice(2);  // that of its line
        part.textContent = `${series.name} ${this.format(row[i + 1])}`.trim();
        this.output.append(between, part);
        between = ', ';
      });
    }
    draw() {
      if (!this.dirty || this.figure.hidden) return;
      this.dirty = false;
      const { context, width, height } = fit(this.canvas);
      const left = 56, right = width - 8, top = 8, bottom = height - 20;
      const rangeX = this.rangeX(), rangeY = this.rangeY();
      const atX = (x) => left + (right - left) * (rangeX.high > rangeX.low ? (x - rangeX.low) / (rangeX.high - rangeX.low) : 0.5);
      const atY = (y) => bottom - (bottom - top) * (y - rangeY.low) / (rangeY.high - rangeY.low);
      context.strokeStyle = color('--line');
      context.fillStyle = color('--faint');
      context.textBaseline = 'middle';
      context.textAlign = 'right';
      for (const tick of ticksOf(rangeY.low, rangeY.high)) {
        context.beginPath();
        context.moveTo(left, atY(tick));
        context.lineTo(right, atY(tick));
        context.stroke();
        context.fillText(this.format(tick), left - 6, atY(tick));
      }
      context.textBaseline = 'top';
      context.textAlign = 'left';
      context.fillText(this.formatX(rangeX.low), left, bottom + 5);
      context.textAlign = 'right';
      context.fillText(this.formatX(rangeX.high), right, bottom + 5);
      this.series.forEach((series, i) => this.line(context, series, i + 1, atX, atY));
      if (this.cursor !== null && this.data.rows[this.cursor]) {
        context.strokeStyle = color('--text');
        context.beginPath();
        context.moveTo(atX(this.data.rows[this.cursor][0]), top);
        context.lineTo(atX(this.data.rows[this.cursor][0]), bottom);
        context.stroke();
      }
      this.say();
    }
    line(context, series, column, atX, atY) {
      context.strokeStyle = context.fillStyle = color(series.color);
      context.lineWidth = 1.75;
      context.beginPath();
      let down = false;
      for (const row of this.data.rows) {
        const y = row[column];
        // A point of another series in between is no gap.
        if (!isNumber(y)) { if (!series.marks) down = false; continue; }
        if (down) context.lineTo(atX(row[0]), atY(y)); else context.moveTo(atX(row[0]), atY(y));
        down = true;
      }
      context.stroke();
      context.lineWidth = 1;
      if (!series.marks && this.data.rows.length > 1) return;
      for (const row of this.data.rows) {
        if (!isNumber(row[column])) continue;
        context.beginPath();
        context.arc(atX(row[0]), atY(row[column]), 3, 0, 7);
        context.fill();
      }
    }
  }

  const step = (x) => `step ${figure(x)}`;
  const loss = new Chart('Loss', [{ name: '', color: '--c0' }], figure, step);
  const evaluated = new Chart('Evaluations', [{ name: 'loss', color: '--c1', marks: true }, { name: 'accuracy', color: '--c2', marks: true }], figure, step);
  const rate = new Chart('Throughput', [{ name: '', color: '--c0' }], figure, duration);
  const lr = new Chart('Learning rate', [{ name: '', color: '--c2' }], figure, step);
  const waited = new Chart('Steps that wait for data', [{ name: '', color: '--c1' }], percent, duration);
  const cpu = new Chart('CPU, all together', [{ name: '', color: '--c0' }], percent, duration);
  const memory = new Chart('Memory', [{ name: 'machine', color: '--c0' }, { name: 'this process', color: '--c1' }], bytes, duration);
  const disk = new Chart('Disks, a second', [{ name: 'read', color: '--c0' }, { name: 'written', color: '--c1' }], bytes, duration);

  // ---- stages
  const timeline = { names: [], data: new Rows(), dirty: true };
  const drawTimeline = () => {
    const canvas = byId('timeline');
    if (!timeline.dirty || byId('stages-part').hidden) return;
    timeline.dirty = false;
    canvas.style.height = `${timeline.names.length * 34 + 8}px`;
    const { context, width } = fit(canvas);
    const rows = timeline.data.rows;
    if (!rows.length) return;
    const left = Math.min(140, width / 3), low = rows[0][0], span = rows[rows.length - 1][0] - low || 1;
    timeline.names.forEach((name, stage) => {
      const top = stage * 34 + 6;
      context.fillStyle = color('--text');
      context.textBaseline = 'middle';
      context.fillText(name, 8, top + 14, left - 16);
      rows.forEach((row, i) => {
        // Whole pixels, so that no gap shows between two moments.
        const x = Math.floor(left + (width - left - 8) * (row[0] - low) / span);
        const next = i + 1 < rows.length ? Math.ceil(left + (width - left - 8) * (rows[i + 1][0] - low) / span) : width - 8;
        const parts = [1, 2, 3].map((kind) => Math.max(0, row[3 * stage + kind] || 0));
        const all = parts[0] + parts[1] + parts[2];
        let bottom = top + 28;
        ['--busy', '--starved', '--blocked'].forEach((name, kind) => {
          if (all <= 0) return;
          const height = 28 * parts[kind] / all;
          context.fillStyle = color(name);
          context.fillRect(x, bottom - height, Math.max(1, next - x), height);
          bottom -= height;
        });
      });
    });
  };
  const showStages = (stages) => {
    if (!Array.isArray(stages)) return;
    byId('stages-part').hidden = stages.length === 0;
    byId('stages').replaceChildren(...stages.map((stage) => {
      const row = document.createElement('tr');
      for (const text of [stage.name, figure(stage.rate), figure(stage.busy), figure(stage.starved), figure(stage.blocked)]) {
        const cell = document.createElement('td');
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    }));
  };

  // ---- the rest of the page
  const showFigures = (tick) => {
    const known = [
      ['doing', tick.phase],
      ['step', isNumber(tick.step) ? `${figure(tick.step)} of ${figure(tick.total_steps)}` : ''],
      ['epoch', isNumber(tick.epoch) ? `${tick.epoch} of ${tick.epochs}` : ''],
      ['loss', isNumber(tick.loss) ? figure(tick.loss) : ''],
      [`${tick.noun}s a second`, isNumber(tick.rate) ? figure(tick.rate) : ''],
      ['waits for data', isNumber(tick.waited) ? percent(tick.waited) : ''],
      ['time left', isNumber(tick.left) ? duration(tick.left) : ''],
      ['done', isNumber(tick.done) ? (isNumber(tick.planned) ? `${figure(tick.done)} of ${figure(tick.planned)}` : figure(tick.done)) : ''],
      ['running for', duration(tick.t)],
      ['memory of the machine', isNumber(tick.memory) ? `${bytes(tick.memory)} of ${bytes(tick.memory_size)}` : ''],
      ...(tick.gpus || []).map((gpu, i) => [`GPU ${i}, ${gpu.name}`, [percent(gpu.used), `${bytes(gpu.memory)} of ${bytes(gpu.memory_size)}`,
        isNumber(gpu.power) ? `${gpu.power.toFixed(0)} W` : '', isNumber(gpu.temperature) ? `${gpu.temperature} °C` : ''].filter(Boolean).join(', ')]),
      ['model', tick.model], ['device', tick.device], ['run', tick.run],
    ].filter(([, text]) => text);
    byId('figures').replaceChildren(...known.map(([name, text]) => {
      const part = document.createElement('div');
      part.append(document.createElement('dt'), document.createElement('dd'));
      part.firstChild.textContent = name;
      part.lastChild.textContent = text;
      return part;
    }));
    const done = isNumber(tick.step) ? tick.step / tick.total_steps : isNumber(tick.planned) ? tick.done / tick.planned : 0;
    byId('progress').value = done;
    byId('progress').hidden = !done;
    byId('waits').textContent = tick.waits || '';
    byId('waits').hidden = !tick.waits;
  };
  const showCpus = (cpus) => {
    if (!Array.isArray(cpus)) return;
    byId('cpus-part').hidden = false;
    const list = byId('cpus');
    while (list.children.length < cpus.length) {
      const item = document.createElement('li');
      item.append(document.createElement('meter'));
      list.append(item);
    }
    cpus.forEach((share, i) => {
      const meter = list.children[i].firstChild;
      meter.value = share;
      meter.setAttribute('aria-label', `CPU ${i}: ${percent(share)}`);
      meter.title = percent(share);
    });
  };

  const addPoints = (tick) => {
    for (const [at, value, speed] of tick.losses || []) { loss.add([at, value]); lr.add([at, speed]); }
    for (const point of tick.evaluations || []) evaluated.add(point);
  };
  const addTick = (tick) => {
    addPoints(tick);
    rate.add([tick.t, tick.rate]);
    waited.add([tick.t, tick.waited]);
    cpu.add([tick.t, tick.cpu]);
    memory.add([tick.t, tick.memory, tick.resident]);
    disk.add([tick.t, tick.read, tick.written]);
    if (Array.isArray(tick.stages)) {
      const names = tick.stages.map((stage) => stage.name);
      if (names.join('\n') !== timeline.names.join('\n')) { timeline.names = names; timeline.data = new Rows(); }
      timeline.data.add([tick.t, ...tick.stages.flatMap((stage) => [stage.busy, stage.starved, stage.blocked])]);
      timeline.dirty = true;
    }
    showTick(tick);
  };
  const showTick = (tick) => {
    showFigures(tick);
    showStages(tick.stages);
    showCpus(tick.cpus);
  };
  const begin = (whole) => {
    byId('run').hidden = false;
    byId('login').hidden = true;
    const about = whole.about || {};
    const title = [about.command, about.recipe].filter(Boolean).join(' ');
    byId('title').textContent = `Stoker: ${title}`;
    document.title = `${title} – Stoker`;
    const column = (name) => whole.columns.indexOf(name);
    const pick = (...names) => whole.ticks.map((row) => names.map((name) => row[column(name)]));
    loss.set(whole.losses.map((row) => [row[0], row[1]]));
    lr.set(whole.losses.map((row) => [row[0], row[2]]));
    evaluated.set(whole.evaluations);
    rate.set(pick('t', 'rate'));
    waited.set(pick('t', 'waited'));
    cpu.set(pick('t', 'cpu'));
    memory.set(pick('t', 'memory', 'resident'));
    disk.set(pick('t', 'read', 'written'));
    timeline.names = whole.stages;
    timeline.data.set(whole.ticks.filter((row) => row.length > whole.columns.length)
      .map((row) => [row[0], ...row.slice(whole.columns.length)]));
    timeline.dirty = true;
    if (whole.last) showTick(whole.last);
  };

  const drawAll = () => {
    for (const chart of charts) chart.draw();
    drawTimeline();
    requestAnimationFrame(drawAll);
  };
  const redraw = () => { for (const chart of charts) chart.dirty = true; timeline.dirty = true; };
  window.addEventListener('resize', redraw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  byId('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    redraw();
  });

  // ---- events
  // Not EventSource, which cannot send the header that carries the token.
  let token = '', ended = false;
  const state = (text) => { if (byId('state').textContent !== text) byId('state').textContent = text; };
  const onEvent = (name, data) => {
    if (name === 'whole') { begin(JSON.parse(data)); state('running'); }
    if (name === 'tick') { addTick(JSON.parse(data)); state('running'); }
    if (name === 'end') { ended = true; state(JSON.parse(data).how); }
  };
  const readEvents = async (response) => {
    const reader = response.body.getReader(), decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        let name = '';
        const data = [];
        for (const line of text.slice(0, end).split('\n')) {
          if (line.startsWith('event: ')) name = line.slice(7);
          if (line.startsWith('data: ')) data.push(line.slice(6));
        }
        onEvent(name, data.join('\n'));
      }
    }
  };
  const connect = async (wait) => {
    try {
      const response = await fetch('events', { headers: token ? { Authorization: `Bearer ${token}` } : {}, cache: 'no-store' });
      if (response.status === 401) {
        byId('refused').textContent = token ? 'That is not the token.' : '';
        byId('login').hidden = false;
        byId('token').focus();
        state('the token is needed');
        return;
      }
      if (response.ok) { wait = 1; await readEvents(response); }
      else state(`the server answers ${response.status}`);
    } catch (error) {
      state('no answer from the server');
    }
    if (ended) return;
    if (byId('state').textContent === 'running') state('the connection has ended; trying again');
    setTimeout(() => connect(Math.min(10, 2 * wait)), 1000 * wait);
  };
  byId('login').addEventListener('submit', (event) => {
    event.preventDefault();
    token = byId('token').value.trim();
    byId('token').value = '';
    connect(1);
  });
  requestAnimationFrame(drawAll);
  connect(1);
})();
