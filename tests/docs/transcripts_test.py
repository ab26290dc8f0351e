"""Runs the transcripts of a document: what it shows is what happens.

In a block that starts with ```console, a line that starts with "$ " is a command and the lines up to the next
one are its output, both streams together. A line "..." stands for any number of lines. All commands of a document
run in one scratch directory, in order. Blocks that start with ```cpp must be a file in examples/, whole; one that starts
with ```python and a line "# NAME.py: …" is a file of that name in the scratch directory.

Usage: transcripts_test.py [--update] POSY SOURCE DOCUMENT
--update writes what the commands print into the document instead, for a person to read before it is committed.
"""
import os
import re
import subprocess
import sys
import tempfile

update = "--update" in sys.argv
posy, source, document = (os.path.abspath(p) for p in sys.argv[1:] if p != "--update")
with open(document, encoding="utf-8") as f:
    text = f.read()
failed = run = 0


def matches(expected, actual):
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0].rstrip() and matches(expected[1:], actual[1:])


def replay(scratch, command, output):
    """Runs one command; the text that the document should have for it."""
    global run, failed
    env = {**os.environ, "PATH": os.path.dirname(posy) + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", command], cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    run += 1
    if matches(output.splitlines(), done.stdout.splitlines()):
        return f"$ {command}\n{output}"
    failed += 1
    if not update:
        print(f"$ {command}\n--- the document says\n{output}--- it prints\n{done.stdout}")
    return f"$ {command}\n" + "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
    for name, code in re.findall(r"^```python\n(?=# (\w+\.py): )(.*?)^```", text, re.M | re.S):
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as f:
            f.write(code)
    new = "".join(
        re.sub(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", lambda m: replay(scratch, m[1], m[2]), part, flags=re.M)
        if part.startswith("```console") else part
        for part in re.split(r"(^```console\n.*?^```$)", text, flags=re.M | re.S))

if update:
    with open(document, "w", encoding="utf-8") as f:
        f.write(new)
    failed = 0

examples = {}
for name in os.listdir(os.path.join(source, "examples")):
    with open(os.path.join(source, "examples", name), encoding="utf-8") as f:
        examples[name] = f.read()
for code in re.findall(r"^```cpp\n(.*?)^```", text, re.M | re.S):
    run += 1
    if code not in examples.values():
        failed += 1
        print("not a file in examples/:\n" + code)

print(f"{run - failed} passed, {failed} failed")
sys.exit(failed > 0 or run == 0)
