#!/usr/bin/env python3
"""Runs the commands of a README, and compares what they print with what it says.

    tests/readme.py README.md      runs them all, in order, in one shell
    tests/readme.py --self-test    shows that this runner sees a lie

The convention, which a reader of the README need not know:

- In a ```console block, a line that starts with `$ ` is a command; lines that
  start with `> ` go on with it; so does whatever follows a `\\` at a line's end.
  The lines below are what it prints (stdout and stderr). Without such lines
  only its success is checked.
- `…` stands for anything within a line; alone on a line, for any lines.
- A command that ends in `&` goes on in the background: its lines are waited for,
  and it is stopped at the end.
- A ```sh block is a script: it must succeed, whatever it prints.
- `<!-- not run: REASON -->` on the line above a block leaves it out, and says so.
- Other blocks are not ours, but ```bash and ```shell are refused, so that no
  command is left out by mistake.

The README names the usual address and the usual data folder; both are replaced
by a free port and a temporary folder, here and in the server's environment.
Every command must succeed, within TIMEOUT.
"""

import contextlib
import io
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT = 1200  # seconds: the first command may well build everything
GRACE = 10  # seconds for what runs in the background to end

USUAL_ADDRESS = "127.0.0.1:8080"
USUAL_DATA = "jacuzzi-data"

FENCE = re.compile(r"^```(\S*)")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")


class BadReadme(Exception):
    pass


@dataclass
class Command:
    line: int
    text: str
    expected: list = field(default_factory=list)


def commands(readme):
    """The commands of a README's text, and why which blocks are left out."""
    found, left_out = [], []
    lines = readme.splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), None)
        if end is None:
            raise BadReadme(f"line {at + 1}: a block that does not end")
        kind, first, block = fence[1], at + 2, lines[at + 1 : end]
        reason = NOT_RUN.match(lines[at - 1]) if at else None
        if kind in ("bash", "shell"):
            raise BadReadme(f"line {at + 1}: use ```console or ```sh, so that the block is run")
        if reason and kind in ("console", "sh"):
            left_out.append((at + 1, reason[1]))
        elif kind == "console":
            found += console(block, first)
        elif kind == "sh":
            found.append(Command(first, "set -e\n" + "\n".join(block)))
        at = end + 1
    return found, left_out


def console(block, first):
    found, goes_on = [], False
    for number, line in enumerate(block, first):
        if line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif not found:
            raise BadReadme(f"line {number}: a ```console block begins with a command: $ …")
        elif goes_on or (line.startswith("> ") and not found[-1].expected):
            found[-1].text += "\n" + line.removeprefix("> ")
        else:
            found[-1].expected.append(line)
        goes_on = not found[-1].expected and found[-1].text.endswith("\\")
    return found


def pattern(expected):
    """What the expected lines stand for, as a regular expression."""
    parts = []
    for line in expected:
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.compile("".join(parts) + r"\Z")


class Shell:
    """One bash, in which the commands run one after the other."""

    def __init__(self, folder, replaced, environment):
        self.output = Path(folder, "output")
        self.script = Path(folder, "command")
        self.replaced = replaced
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **environment},
        )

    def run(self, command):
        """What is wrong with the command; nothing if all is well."""
        deadline = time.monotonic() + TIMEOUT
        text = command.text
        for usual, ours in self.replaced.items():
            text = text.replace(usual, ours)
        is_script = text.startswith("set -e\n")
        self.script.write_text(text + "\n")
        # A file of its own each: what runs in the background goes on writing to its own.
        self.output = self.output.with_suffix(f".{command.line}")
        run = f"bash {self.script}" if is_script else f"source {self.script}"
        self.bash.stdin.write(f"{{ {run}; }} >{self.output} 2>&1 </dev/null; echo $?\n")
        self.bash.stdin.flush()
        status = self.status(deadline)
        if status is None:
            return f"did not end in {TIMEOUT} s"
        if status != "0":
            return f"exit code {status}"
        if not command.expected:
            return None
        wanted = pattern(command.expected)
        in_background = text.rstrip().endswith("&")
        while not wanted.match(self.printed()):
            if not in_background or time.monotonic() > deadline:
                return "expected:\n" + "\n".join(command.expected)
            time.sleep(0.05)
        return None

    def status(self, deadline):
        """The exit code, `None` if time ran out, "exit" if bash itself has ended."""
        timer = signal.signal(signal.SIGALRM, lambda *_: self.stop())
        signal.alarm(max(1, int(deadline - time.monotonic())))
        try:
            line = self.bash.stdout.readline()
        finally:
            left = signal.alarm(0)
            signal.signal(signal.SIGALRM, timer)
        if line:
            return line.strip()
        return None if left == 0 else "of the shell itself"

    def printed(self):
        text = self.output.read_text(errors="replace")
        for usual, ours in self.replaced.items():
            text = text.replace(ours, usual)
        return text if not text or text.endswith("\n") else text + "\n"

    def stop(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.bash.pid, number)
            except ProcessLookupError:
                return
            end = time.monotonic() + GRACE
            while time.monotonic() < end:
                self.bash.poll()
                try:
                    os.killpg(self.bash.pid, 0)
                except ProcessLookupError:
                    return
                time.sleep(0.05)


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % probe.getsockname()[1]


def check(name, readme):
    """Runs a README's text; gives the number of commands that did as it says, and that did not."""
    found, left_out = commands(readme)
    if not found:
        raise BadReadme("no command at all: nothing would be tested")
    for line, reason in left_out:
        print(f"{name}:{line}: not run: {reason}")
    passed = 0
    with tempfile.TemporaryDirectory(prefix="jacuzzi-readme-") as folder:
        address, data = free_address(), str(Path(folder, "data"))
        environment = {
            "JACUZZI__SERVER__LISTEN": address,
            "JACUZZI__DATA__DIR": data,
            "JACUZZI_SERVER": f"http://{address}",
            "CARGO_TERM_PROGRESS_WHEN": "never",
            "NO_COLOR": "1",
        }
        shell = Shell(folder, {USUAL_ADDRESS: address, USUAL_DATA: data}, environment)
        try:
            for command in found:
                wrong = shell.run(command)
                if wrong is None:
                    passed += 1
                    continue
                print(f"{name}:{command.line}: $ {command.text}\n{wrong}\nprinted:\n{shell.printed()}")
                if shell.bash.poll() is not None:
                    print(f"{name}: the shell has ended: the commands below line {command.line} were not run")
                    break
        finally:
            shell.stop()
    return passed, len(found) - passed


TRUE_README = """
```console
$ greeting=hello; echo "$greeting, world"
hello, …
$ printf '%s\\n' one \\
    two
> echo three
one
…
three
$ python3 -u -c 'import time; print("server at 127.0.0.1:8080"); time.sleep(600)' &
server at 127.0.0.1:8080
$ echo $greeting $JACUZZI_SERVER
hello http://127.0.0.1:8080
```
<!-- not run: it would not end -->
```sh
sleep infinity
```
```sh
test "$(echo a)" = a
```
```toml
[not] # ours
```
"""

LIES = [
    "```console\n$ echo hello\nhell\n```",
    "```console\n$ printf 'a\\nb\\n'\na\n```",
    "```console\n$ false\n```",
    "```sh\nfalse\ntrue\n```",
    "```console\n$ exit 3\n```",
]

BAD = ["no block", "```bash\nls\n```", "```console\noutput first\n```", "```sh\nls\n"]


def self_test():
    assert check("true", TRUE_README) == (5, 0)
    for lie in LIES:
        with contextlib.redirect_stdout(io.StringIO()):
            assert check("a lie", lie) == (0, 1), lie
    for bad in BAD:
        try:
            check("bad", bad)
        except BadReadme:
            continue
        raise AssertionError(f"not refused: {bad!r}")
    print("the runner sees what it must")


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        passed, failed = check(arguments[0], Path(arguments[0]).read_text(encoding="utf-8"))
    except (BadReadme, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    print(f"{passed} of {passed + failed} commands of {arguments[0]} do as it says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
