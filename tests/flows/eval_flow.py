#!/usr/bin/env python3
"""bulkhead eval: JavaScript in a sandbox from the command line, and its prompt."""

import json
import os
import sys
import time

import flow
from flow import Flow, Terminal, options


class Evaluating(Flow):
    def evaluate(self, source, *words, **more):
        return self.bulkhead("eval", *words, "-", input=source, **more)

    def test_value_of_a_script(self):
        done = self.evaluate("6 * 7")
        self.assertEqual((done.returncode, done.stdout), (0, "42\n"), done.stderr)
        script = self.file("project/price.js", "input.net * (1 + input.tax)")
        done = self.bulkhead("eval", "--json", script, input='{"net": 10, "tax": 0.5}')
        self.assertEqual((done.returncode, done.stdout), (0, "15\n"), done.stderr)
        done = self.evaluate("new Promise((done) => setTimeout(() => done({ a: [1, 'x'] }), 5))", "--json")
        self.assertEqual(json.loads(done.stdout), {"a": [1, "x"]})
        done = self.evaluate("setTimeout(() => console.log('later'), 5); console.error('told'); 'value'")
        self.assertEqual((done.stdout, done.stderr), ("value\nlater\n", "told\n"))

    def test_exit_codes(self):
        for source, words, code, said in (
            ("throw new TypeError('x')", (), 1, "TypeError: x\n    at stdin:1:7"),
            ("let a = ;", (), 1, "SyntaxError"),
            ("throw 7", (), 1, "thrown: 7"),
            ("new Promise(() => {})", (), 1, "never settled"),
            ("for (;;) {}", ("--time", "100ms"), 121, "time limit"),
            ("new Promise(() => {})", ("--wall", "100ms"), 124, "100 ms"),
            ("const a = []; for (;;) a.push(new Array(1e4).fill({}))", ("--memory", "16MiB"), 120, "memory"),
            ("'x'.repeat(1e6)", ("--output", "64KiB"), 122, "larger"),
            ("Array.from({ length: 70000 }, () => () => 1)", ("--output", "256MiB"), 123, "objects"),
            ("1", ("--memory", "lots"), 125, "--memory"),
            ("1", ("--time", "0ms"), 125, "--time"),
        ):
            done = self.evaluate(source, *words)
            self.assertEqual(done.returncode, code, f"{source}: {done.stderr}")
            self.assertIn(said, done.stderr, source)
            self.assertEqual(done.stdout, "", source)
        self.assertEqual(self.bulkhead("eval", "nowhere.js").returncode, 125)
        self.assertEqual(self.bulkhead("eval", "a.js", "b.js").returncode, 125)
        self.assertEqual(self.bulkhead("eval", self.file("a.js", "1"), "--json").returncode, 125)

    def test_an_older_node_is_named(self):
        older = self.file("older.cjs", "Object.defineProperty(process, 'version', { value: 'v20.20.2' })")
        done = self.evaluate("1", env={"NODE_OPTIONS": f"--require {older}"})
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("needs Node.js 24", done.stderr)
        self.assertIn("is v20.20.2: `bulkhead eval --install`", done.stderr)

    def test_a_small_message_is_no_endless_text(self):
        tree = "let v = [1]; for (let i = 0; i < 40; i++) v = [v, v]; "
        done = self.evaluate(tree + "v", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (122, "ERR_SANDBOX_OUTPUT"))
        done = self.evaluate("let v = {}; for (let i = 0; i < 6; i++) v = Object.fromEntries(Array.from({ length: 90 }, (_, k) => [k, v])); v")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stdout), 1_000_000)
        self.assertEqual(self.evaluate(tree + "throw v", "--json").returncode, 1)

    def test_errors_as_json(self):
        done = self.evaluate("null.x", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stdout)["error"]["name"], "TypeError")
        done = self.evaluate("new Promise(() => {})", "--json")
        self.assertEqual((done.returncode, "never settled" in json.loads(done.stdout)["error"]["message"]), (1, True))
        done = self.evaluate("for (;;) {}", "--json", "--time", "50ms")
        self.assertEqual(done.returncode, 121)
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "ERR_SANDBOX_TIME")
        script = self.file("project/a.js", "input")
        self.assertEqual(self.bulkhead("eval", "--json", script, input="{").returncode, 125)

    def test_it_reaches_nothing(self):
        done = self.evaluate(f"""[typeof process, typeof require, typeof fetch, typeof module,
            (() => {{ try {{ return this.constructor.constructor('return typeof process')() }} catch (e) {{ return e.name }} }})(),
            (() => {{ try {{ return console.log.constructor('return typeof process')() }} catch (e) {{ return e.name }} }})()].join()""")
        self.assertEqual(done.stdout, "undefined,undefined,undefined,undefined,undefined,undefined\n")
        done = self.evaluate(f"import('fs').then((fs) => fs.readFileSync({json.dumps(self.secret)}))")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("the secret", done.stdout + done.stderr)

    def test_ctrl_c_ends_a_script_and_its_worker(self):
        script = self.file("project/loop.js", "for (;;) {}")
        terminal = Terminal([options.bulkhead, "eval", "--time", "10min", script], self.project, self.environment)
        self.addCleanup(terminal.close)
        time.sleep(1.5)
        terminal.type("\x03")
        self.assertEqual(terminal.exit_code(), 130)


class Prompting(Flow):
    def prompt(self, *words):
        terminal = Terminal([options.bulkhead, "eval", *words], self.project, self.environment)
        self.addCleanup(terminal.close)
        terminal.wait_for("Ctrl-D the prompt.*> ")
        return terminal

    def test_lines_and_what_goes_over_several(self):
        terminal = self.prompt()
        terminal.type("const f = (x) => {\r")
        terminal.wait_for(r"\.\.\. ")
        terminal.type("return x * 2 }\r")
        terminal.wait_for("> ")
        terminal.type("f(21)\r")
        terminal.wait_for(r"\n42\r")
        terminal.type("{ a: 1 }\r")
        terminal.wait_for(r"\n\{ a: 1 \}\r")
        terminal.type("throw new Error('bad')\r")
        terminal.wait_for(r"Error: bad\r\n    at prompt:1:7")
        terminal.type("\x1b[A")
        terminal.wait_for("throw new Error")
        terminal.type("\x03Math.hyp\t")
        terminal.wait_for("Math.hypot")
        terminal.type("\x03\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_ctrl_c_ends_the_script_and_not_the_prompt(self):
        terminal = self.prompt("--time", "10min")
        for source in ("globalThis.kept = 5; for (;;) {}", "new Promise(() => {})", "for (;;) { try { for (;;) {} } finally { continue } }"):
            terminal.type(source + "\r")
            time.sleep(0.4)
            terminal.type("\x03")
            terminal.wait_for(r"\nended\r", 20)
        terminal.type("kept + 1\r")
        terminal.wait_for(r"\n6\r")
        terminal.type("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_limit_leaves_the_prompt_usable(self):
        terminal = self.prompt("--time", "200ms", "--memory", "16MiB")
        terminal.type("for (;;) {}\r")
        terminal.wait_for("longer than its time limit")
        terminal.type("Array.prototype.sort.call({ length: 2 ** 32 })\r")
        terminal.wait_for("lost.*new one.*> ")
        terminal.type("1 + 1\r")
        terminal.wait_for(r"\n2\r")
        terminal.type("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_guest_says_nothing_to_the_terminal(self):
        terminal = self.prompt()
        for source in ("'\\x1b]0;own\\x07\\x9b31m'", "console.log('\\x1b]0;own\\x07\\x9b31m')", "throw new Error('\\x1b]0;own\\x07\\x9b31m')",
                       "throw '\\x1b]0;own\\x07\\x9b31m'", "[Object.assign(new Error('\\x1b]0;own\\x07\\x9b31m'), {})]", "({ ['\\x1b]0;own\\x07\\x9b31m']: Symbol('\\x1b]0;own\\x07\\x9b31m') })"):
            terminal.type(source + "\r")
            terminal.wait_for(r"own.*\n.*own.*> ")
        # Nor by completion.
        terminal.type("Array.prototype.slice = () => ['Math\\x1b]0;own\\x07']; 0\r")
        terminal.wait_for(r"\n0\r.*> ")
        terminal.type("Mat\t")
        time.sleep(0.5)
        terminal.type("h.PI\r")
        terminal.wait_for("3.14|Error")
        self.assertNotIn("\x1b]0", terminal.screen)
        self.assertNotIn("\x07", terminal.screen)
        self.assertNotIn("\x9b", terminal.screen)


class Unseen(Flow):
    """What turns a line round, or is not seen, is written as what it is: at a terminal, and there alone."""

    SIGNS = "\u202e\u2066\u200f\u061c\u200b\ufeff\u2028\U000e0041"

    def terminal(self, *words):
        terminal = Terminal([options.bulkhead, "eval", *words], self.project, self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def test_results_errors_and_json(self):
        spelled = json.dumps(self.SIGNS)
        for source, words in ((f"'own' + {spelled}", ()), (f"['own' + {spelled}]", ()), (f"({{ ['own' + {spelled}]: 1 }})", ()), (f"console.log('own' + {spelled})", ()),
                              (f"console.error({{ a: 'own' + {spelled} }})", ()), (f"throw new Error('own' + {spelled})", ()), (f"throw 'own' + {spelled}", ()),
                              (f"'own' + {spelled}", ("--json",)), (f"throw new Error('own' + {spelled})", ("--json",))):
            terminal = self.terminal(*words, self.file("project/unseen.js", source))
            terminal.exit_code()
            self.assertIn("own", terminal.screen, source)
            for sign in self.SIGNS:
                self.assertNotIn(sign, terminal.screen, (source, words))
        self.assertEqual(self.bulkhead("eval", self.file("project/unseen.js", f"'own' + {spelled}")).stdout, f"own{self.SIGNS}\n")

    def test_at_the_prompt(self):
        terminal = self.terminal()
        terminal.wait_for("Ctrl-D the prompt.*> ")
        for source in ("'own\\u202e'", "throw new Error('own\\u202e')", "console.log('own\\u202e')"):
            terminal.type(source + "\r")
            terminal.wait_for(r"own.*\n.*own.*> ")
        self.assertNotIn("\u202e", terminal.screen)


if __name__ == "__main__":
    addons = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[sys.argv.index("--bulkhead") + 1]))), "js/worker.node")
    if not os.path.exists(addons):
        print("needs the sandbox's addons: ninja addons")
        sys.exit(77)
    flow.main()
