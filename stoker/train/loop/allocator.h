// How the training program gets its memory.
#pragma once

namespace stoker {

// Keeps large blocks mapped between steps. Activations of megabytes are allocated and freed at
// every step; by default glibc maps and unmaps each, and the kernel clears and faults in every page
// again. Told otherwise it reuses them (measured: training runs 1.3 to 1.6 times faster on the
// CPU). Costs: memory freed by a large peak is not given back to the system. Call first thing in
// main, before threads start. Does nothing where the C library is not glibc.
void KeepLargeBlocksMapped();

}  // namespace stoker
