"""No C++ function is longer than 60 lines and no file of code longer than 400, unless the file's header comment says why: by
a line that starts with "Long because ".

Usage: sizes_test.py SOURCE [unittest arguments]
"""
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[1])
MOST_IN_FUNCTION, MOST_IN_FILE = 60, 400
EXCUSE = re.compile(r"^(?://|#|<!--)? ?Long because \S", re.M)
HEADER = 20  # lines in which the excuse must stand
# What hides braces, longest first: raw strings, comments, directives, strings and characters.
HIDDEN = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'', re.S | re.M
)
SCOPE = re.compile(r"(?:template\s*<.*>\s*|typedef\s+|inline\s+|export\s+)*(?:namespace|class|struct|union|enum|extern)\b", re.S)


def code_of(text):
    """The text with the same lines, without what hides braces."""
    return HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), text)


def without_parentheses(text):
    while (shorter := re.sub(r"\([^()]*\)", "", text)) != text:
        text = shorter
    return text


def is_function(head):
    """Whether a block after this text, which began after the last statement, is the body of a function."""
    if SCOPE.match(head.lstrip()) and not re.search(r"\)\s*(?:const|noexcept|override|\s)*$", head):
        return False
    bare = without_parentheses(head)
    return "(" in head and "(" not in bare and ("=" not in bare or "operator" in bare)


def functions(text):
    """(its first line, the number of its lines) for every function of C++ code; those inside others belong to these."""
    found, open_blocks = [], []  # of each open block: where its head starts, and whether it is a function
    start, depth = 0, 0  # of the head in hand; how many functions are open
    code = code_of(text)
    for mark in re.finditer(r"[{};]", code):
        at = mark.start()
        if mark[0] == ";":
            start = start if depth else at + 1
        elif mark[0] == "{":
            body = depth > 0 or is_function(code[start:at])
            open_blocks.append((start, body))
            depth += body
            start = start if depth else at + 1
        else:
            begun, body = open_blocks.pop()
            depth -= body
            if depth == 0:
                first = begun + len(code[begun:]) - len(code[begun:].lstrip())
                if body:
                    found.append((code.count("\n", 0, first) + 1, code.count("\n", first, at) + 1))
                # A member that is initialized in braces is followed by the next one, or by the body.
                start = begun if re.match(r"\s*[,{]", code[at + 1 :]) else at + 1
    assert not open_blocks, "a brace is not closed"
    return found


def files_of_code():
    for folder, folders, names in os.walk(SOURCE):
        folders[:] = [f for f in folders if f != "build" and not f.startswith((".", "__"))]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".cpp", ".hpp", ".py", ".sh", ".cmake", ".html")) or name == "CMakeLists.txt":
                yield path
            elif "." not in name:
                with open(path, "rb") as file:
                    if file.read(2) == b"#!":
                        yield path


def faults_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.count("\n")
    if EXCUSE.search("\n".join(text.split("\n")[:HEADER])):
        return
    name = os.path.relpath(path, SOURCE)
    if lines > MOST_IN_FILE:
        yield f"{name}: {lines} lines, more than {MOST_IN_FILE}"
    if path.endswith((".cpp", ".hpp")):
        for first, length in functions(text):
            if length > MOST_IN_FUNCTION:
                yield f"{name}:{first}: a function of {length} lines, more than {MOST_IN_FUNCTION}"


class Sizes(unittest.TestCase):
    maxDiff = None

    def test_files_and_functions_are_short(self):
        files = sorted(files_of_code())
        self.assertGreater(len(files), 600)
        self.assertEqual([fault for path in files for fault in faults_of(path)], [])

    def test_functions_are_found(self):
        text = """// { in a comment
namespace a {
constexpr auto rows = f({
    1,
});
#define OPEN {
struct s : t<decltype(g())> {
    s() : x_{1}, y_{"{"} {
        if (x_) {
        }
    }
    template <class T>
    bool operator==(const T&) const {
        return R"(}
)" == '{';
    }
    int x_ = 1'000, y_{};
};

std::vector<int> split(int a,
                       int b = 0) {
    return {a, b};
}
enum class e { one };
TEST(suite, name) {
    struct inside {
        void f() {}
    };
}
}  // namespace a
"""
        self.assertEqual([f for f in functions(text) if f[1] > 1], [(8, 4), (12, 5), (20, 4), (25, 5)])

    def test_an_excuse_counts_in_the_header_alone(self):
        self.assertTrue(EXCUSE.search("// A table.\n// Long because every row is a fact.\n"))
        self.assertFalse(EXCUSE.search("int x;  // Long because it is.\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
