"""The binary interface of libposy-c: its symbols, structs and constants are the committed ones; posy.h is C99 and C++, and documents every function.

Usage: abi_test.py SOURCE LIBRARY [TOOL]
bindings/c/symbols.txt and bindings/c/abi.txt may only grow, unless the number of the ABI changes (SOVERSION in bindings/c/CMakeLists.txt).
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY, *TOOL = sys.argv[1:]
BINDING = os.path.join(SOURCE, "bindings", "c")
HEADER = os.path.join(BINDING, "include", "posy.h")
INCLUDE = ["-I", os.path.dirname(HEADER)]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def run(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **how)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def structs(header):
    """Name and members of each struct."""
    found = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", without_comments(header), re.S)
    return {name: re.findall(r"(\w+)(?:\[\d+\])?;", body) for name, body in found}


def constants(header):
    bodies = re.findall(r"enum(?: \w+)? \{(.*?)\}", without_comments(header), re.S)
    return [name for body in bodies for name in re.findall(r"(\w+) = ", body)]


class Header(unittest.TestCase):
    header = read("bindings", "c", "include", "posy.h")
    declared = set(re.findall(r"^POSY_API [^;(]*?\**(posy_\w+)\(", header, re.M))

    def test_is_c_and_cpp(self):
        for language, compiler, standards in (("c", "cc", ("c99", "c11", "c17")), ("c++", "c++", ("c++11", "c++20"))):
            for standard in standards:
                run(compiler, f"-std={standard}", *STRICT, "-x", language, "-fsyntax-only", HEADER)

    def test_every_function_is_documented(self):
        lines = self.header.split("\n")
        heads = [i for i, line in enumerate(lines) if re.match(r"(POSY_API|static inline) ", line)]
        self.assertGreater(len(heads), 120)
        for i in heads:
            self.assertRegex(lines[i - 1], r"^// .*[.?)]$", f"no comment before {lines[i]}")

    def test_what_hands_out_a_handle_says_how_to_give_it_back(self):
        for comment, function, arguments in re.findall(r"((?:^//[^\n]*\n)+)POSY_API posy_status (\w+)\(([^;]*)\);", self.header, re.M):
            handed = re.search(r"(?<!const )posy_(\w+) \*\*", arguments)
            if handed and handed[1] != "hitter" and not comment.startswith("// The same"):
                self.assertIn(f"posy_{handed[1]}_free()", comment.replace("\n// ", " "), function)

    def test_every_function_is_exported_and_none_else(self):
        exported = {line.split("@@")[0] for line in read("bindings", "c", "symbols.txt").split()}
        self.assertEqual(self.declared, exported)


class Binary(unittest.TestCase):
    maxDiff = None

    def test_symbols(self):
        listed = [line.split() for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        exported = sorted(name for _, kind, name in listed if kind != "A")
        self.assertEqual(exported, read("bindings", "c", "symbols.txt").split())

    def test_its_name_has_the_number_of_the_abi(self):
        self.assertRegex(run("objdump", "-p", LIBRARY), r"SONAME +libposy-c\.so\.0\n")

    def test_structs_and_constants(self):
        header = Header.header
        lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in structs(header)]
        lines += [f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));' for name, all in structs(header).items() for member in all]
        lines += [f'printf("{name} %d\\n", {name});' for name in constants(header)]
        self.assertGreater(len(lines), 150)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            program = os.path.join(scratch, "layout")
            with open(program + ".c", "w", encoding="utf-8") as file:
                file.write("#include <posy.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
            run("cc", "-std=c99", *INCLUDE, program + ".c", "-o", program)
            self.assertEqual(run(program), read("bindings", "c", "abi.txt"))


class Example(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.program = os.path.join(self.scratch, "seen")
        folder = os.path.dirname(LIBRARY)
        run("cc", "-std=c99", *STRICT, *INCLUDE, os.path.join(BINDING, "examples", "seen.c"), "-L", folder, "-lposy-c", f"-Wl,-rpath,{folder}",
            "-o", self.program)

    def test_the_document_shows_it_and_what_it_prints(self):
        program, output = re.search(r"`bindings/c/examples/seen\.c`:\n\n```c\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```\n", read("docs", "c.md"), re.S).groups()
        self.assertEqual(program, read("bindings", "c", "examples", "seen.c"))
        self.assertEqual(run(self.program, cwd=self.scratch), output)

    @unittest.skipUnless(TOOL, "there is no tool")
    def test_the_tool_reads_its_file_and_it_reads_the_tools(self):
        run(self.program, cwd=self.scratch)
        self.assertEqual(run(TOOL[0], "query", "seen.posy", input="alice\nbob\n", cwd=self.scratch), "alice\n")
        reader = os.path.join(self.scratch, "reader")
        with open(reader + ".c", "w", encoding="utf-8") as file:
            file.write("""#include <posy.h>
#include <stdio.h>
int main(int count, char **keys) {
    posy_filter *filter;
    posy_error why;
    if (posy_filter_load(keys[1], 0, &filter, &why)) return puts(why.text), 1;
    for (int i = 2; i < count; ++i) printf("%d", posy_filter_may_contain_text(filter, keys[i]));
    posy_filter_free(filter);
    return 0;
}
""")
        folder = os.path.dirname(LIBRARY)
        run("cc", "-std=c99", *STRICT, *INCLUDE, reader + ".c", "-L", folder, "-lposy-c", f"-Wl,-rpath,{folder}", "-o", reader)
        lines = "".join(f"user{i}\n" for i in range(1000))
        for how in ([], ["--layout", "spread"], ["--hash", "siphash", "--seed", "7"]):
            run(TOOL[0], "build", "-", "--fpr", "0.0001", "-o", "tool.posy", *how, input=lines, cwd=self.scratch)
            self.assertEqual(run(reader, "tool.posy", "user0", "user999", "nobody", cwd=self.scratch), "110")
        self.assertEqual(run(TOOL[0], "pack", "tool.posy", "-o", "packed.posy", cwd=self.scratch), "")
        self.assertEqual(run(reader, "packed.posy", "user0", "user999", "nobody", cwd=self.scratch), "110")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
