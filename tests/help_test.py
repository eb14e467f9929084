"""`stoker help`, `man` and `completion`: made from the texts of --help, and taken by man and by the shells."""
import os
import re
import shutil
import subprocess
import unittest

from program import STOKER, ProgramTest


class HelpCase(ProgramTest):
    def setUp(self):
        super().setUp()
        # The program under test comes first for the scripts, which ask it for keys.
        self.path_first = os.pathsep.join([os.path.dirname(os.path.abspath(STOKER)), os.environ["PATH"]])

    def commands(self):
        """The commands that `stoker --help` lists."""
        return re.findall(r"(?m)^  ([a-z][a-z-]*)  ", self.run_stoker("--help")[0])

    def options(self, command):
        """The options of a command, as its --help has them."""
        shown = self.run_stoker(command, "--help")[0]
        # Those that are seldom wanted share a line.
        seldom = re.findall(r"--[a-z-]+", re.search(r"(?m)^  \.\.\. [^(]*|\Z", shown)[0])
        return sorted(set(re.findall(r"(?m)^  (?:-\w, )?(--[a-z-]+)", shown)) | set(seldom))

    def output_of(self, *command, **options):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": self.path_first}, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout


class HelpTest(HelpCase):
    def test_help_of_a_command_is_what_the_command_says(self):
        self.assertEqual(self.run_stoker("help")[0], self.run_stoker("--help")[0])
        for command in self.commands():
            self.assertEqual(self.run_stoker("help", command)[0], self.run_stoker(command, "--help")[0])
        self.assert_fails(["help", "trian"], 2, "unknown command 'trian'", "did you mean 'train'?")

    def test_every_command_and_option_is_in_its_manual_page(self):
        self.run_stoker("man", "--to", "pages")
        self.assertEqual(sorted(os.listdir(self.path("pages"))),
                         sorted(["stoker.1"] + [f"stoker-{command}.1" for command in self.commands()]))
        whole = self.run_stoker("man")[0]
        for command in self.commands():
            self.assertIn(f"\n.B {command}\n".replace("-", "\\-"), whole)
            page = self.run_stoker("man", command)[0]
            self.assertEqual(self.read(f"pages/stoker-{command}.1").decode(), page)
            for option in self.options(command):
                self.assertRegex(page, r"(?m)^\.B .*" + re.escape(option.replace("-", "\\-")) + r"( |$)")

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "man is not installed")
    def test_man_sets_every_page_without_a_warning(self):
        self.run_stoker("man", "--to", "pages")
        for name in os.listdir(self.path("pages")):
            with self.subTest(name=name):
                shown = self.output_of("man", "--warnings", "--encoding=UTF-8", "--local-file", self.path(f"pages/{name}"))
                self.assertIn("DESCRIPTION", shown)
                self.assertIn("EXIT STATUS", shown)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_no_error_in_a_page(self):
        self.run_stoker("man", "--to", "pages")
        for name in os.listdir(self.path("pages")):
            self.output_of("mandoc", "-T", "lint", "-W", "error", self.path(f"pages/{name}"))


class CompletionTest(HelpCase):
    def completed(self, line):
        """What bash offers at the end of `line`."""
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        script = f"""
            eval "$(stoker completion bash)"
            compopt() {{ :; }}  # there is no line editor here
            COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
            _stoker
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return self.output_of("bash", "--noprofile", "--norc", "-u", "-c", script).split("\n")[:-1]

    def test_bash_offers_commands_and_their_options(self):
        self.assertEqual(sorted(set(self.completed("stoker ")) - {"-h", "--help", "--version"}), sorted(self.commands()))
        self.assertEqual(self.completed("stoker tr"), ["train"])
        for command in self.commands():
            offered = self.completed(f"stoker {command} --")
            self.assertEqual(sorted(offered), self.options(command))

    def test_bash_offers_files_words_and_keys_where_they_are_wanted(self):
        self.assertIn("recipe.yaml", self.completed("stoker train re"))
        self.assertIn("data", self.completed("stoker inspect da"))
        self.assertEqual(self.completed("stoker plot run --by "), ["step", "epoch", "time"])
        self.assertEqual(self.completed("stoker help ins"), ["inspect"])
        self.assertIn("zsh", self.completed("stoker completion "))
        self.assertIn("random_crop", self.completed("stoker inspect --ops random_"))
        self.assertIn("data.root=", self.completed("stoker bench recipe.yaml --set data.r"))
        self.assertEqual(self.completed("stoker pack a b --format t"), ["tfrecord", "tar"])
        self.assertEqual(self.completed("stoker pack a b --of "), ["train", "eval"])
        self.assertEqual(self.completed("stoker train a --check-data "), ["places", "full"])
        self.assertEqual(self.completed("stoker bench --seconds "), [""])
        if os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train")):
            self.assertIn("train.checkpoint.keep=", self.completed("stoker train --set train.checkpoint.k"))
            self.assertEqual(self.completed("stoker bench --model resnet1"), ["resnet18"])
            self.assertEqual(self.completed("stoker inspect --models resnet1"), ["resnet18"])
            self.assertEqual(self.completed("stoker inspect --models early"), ["early_stopping"])

    def test_every_command_and_option_is_in_the_script_of_each_shell(self):
        for shell, form in [("bash", "{}"), ("zsh", "{}["), ("fish", " -l {} ")]:
            script = self.run_stoker("completion", shell)[0]
            for command in self.commands():
                self.assertRegex(script, rf"(?<![\w-]){command}(?![\w-])")
                for option in self.options(command):
                    self.assertIn(form.format(option.removeprefix("--") if shell == "fish" else option), script)
        self.assert_fails(["completion", "tcsh"], 2, "tcsh")

    def test_the_script_is_written_where_it_is_asked_for(self):
        self.run_stoker("completion", "bash", "--to", "new/folder/stoker")
        self.assertEqual(self.read("new/folder/stoker").decode(), self.run_stoker("completion", "bash")[0])

    def shown_by_zsh(self, script, line, *wanted):
        """What the zsh script prints whose arguments are `line` and `wanted`, with the program of this build first in PATH."""
        return subprocess.run(["zsh", "-f", "-c", script, "zsh", line, *wanted], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": self.path_first, "TERM": "xterm"}, timeout=120).stdout

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_offers_commands_and_their_options(self):
        # In a terminal of its own: zsh completes at its line editor only.
        script = r"""
            zmodload zsh/zpty
            zpty z zsh -f -i
            zpty -w z "PS1=; autoload -Uz compinit; compinit -D -u; zstyle ':completion:*' list-prompt ''; LISTMAX=1000; setopt no_always_last_prompt; stty -echo cols 200 rows 200"
            zpty -w z 'source <(stoker completion zsh); print READY'
            zpty -r z out '*READY*'
            zpty -w -n z "$1"$'\t\t'
            out=
            for word in "${@[2,-1]}"; do
              while [[ $out != *${word}* ]]; do zpty -r z part '?*'; out+=$part; done
            done
            print -r -- "$out"
        """
        # It reads until all are shown; the time limit of the script is what ends it where one never is.
        for line, wanted in [("stoker ", self.commands()), ("stoker train --", self.options("train")),
                             ("stoker inspect x --", self.options("inspect"))]:
            shown = self.shown_by_zsh(script, line, *wanted)
            for word in wanted:
                self.assertIn(word, shown)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_what_there_is_only_one_of(self):
        # The line is run as zsh has completed it, by a function in the place of the program.
        script = r"""
            zmodload zsh/zpty
            zpty z zsh -f -i
            zpty -w z "PS1=; autoload -Uz compinit; compinit -D -u; stty -echo cols 200 rows 200"
            zpty -w z 'source <(stoker completion zsh); stoker() { print -r -- "RAN ${(j:|:)@} EN""D" }; print REA''DY'
            zpty -r z out '*READY*'
            zpty -w -n z "$1"$'\t\n'
            zpty -r z out '*RAN * END*'
            print -r -- "$out"
        """
        for line, completed in [("stoker tr", "train"), ("stoker train --allow-ch", "train|--allow-changes"),
                                ("stoker plot run --by ep", "plot|run|--by|epoch"), ("stoker train rec", "train|recipe.yaml"),
                                ("stoker pack a b --format tfr", "pack|a|b|--format|tfrecord")]:
            with self.subTest(line=line):
                self.assertIn(f"RAN {completed} END", self.shown_by_zsh(script, line))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_offers_commands_and_their_options(self):
        trains = os.path.exists(os.path.join(os.path.dirname(STOKER), "stoker-train"))
        for line, wanted in [("stoker ", self.commands()), ("stoker train --", self.options("train")), ("stoker tr", ["train"]),
                             ("stoker plot run --by ", ["step", "epoch", "time"]), ("stoker train rec", ["recipe.yaml"]),
                             ("stoker bench --set data.r", ["data.root="]), ("stoker pack a b --format t", ["tfrecord", "tar"]),
                             ("stoker bench --model resn", ["resnet18", "resnet50"] if trains else []),
                             ("stoker inspect --models early", ["early_stopping"] if trains else []),
                             ("stoker train --set train.ep", ["train.epochs="] if trains else [])]:
            shown = self.output_of("fish", "--no-config", "-c", f"stoker completion fish | source; complete -C '{line}'")
            offered = {word.split("\t")[0] for word in shown.splitlines()}
            self.assertLessEqual(set(wanted), offered)


if __name__ == "__main__":
    unittest.main()
