"""Names the C++ functions of the files given that have more than 60 lines and no comment before them that says why, in a line
that begins with `// Over 60 lines: `.

The files are formatted as ./dev format does it: the brace that ends a function stands alone on its line, indented as the line on
which the function's name begins, and all lines between are indented further. A class and a table end with `};` instead.
"""
import re
import sys

MOST_LINES = 60
REASON = "// Over 60 lines: "
INDENT = " " * 100  # of what follows a text that may have any lines
# A text that may have any lines, and the lines of the preprocessor and labels, which stand further left than what is around them.
NOT_INDENTED = re.compile(r'R"(\w*)\(.*?\)\1"|^\s*#(?:[^\n]*\\\n)*[^\n]*|^ *(?:public|protected|private|\w+):$', re.DOTALL | re.MULTILINE)


def blocks_in(lines):
    """(first line, last line) of what ends with a brace alone on its line; lines count from 0."""
    begins = []  # (indent, number) of the lines that the next line may belong to, each indented further than the one before it
    for number, line in enumerate(lines):
        text = line.lstrip()
        if not text or text.startswith("//"):
            continue
        indent = len(line) - len(text)
        if re.match(r"\}\s*(//|$)", text):
            while begins and begins[-1][0] > indent:
                begins.pop()
            if begins and begins[-1][0] == indent:
                yield begins[-1][1], number
        while begins and begins[-1][0] >= indent:
            begins.pop()
        begins.append((indent, number))


def says_why(lines, first):
    """Whether the comment that ends before line `first` gives the reason."""
    while first > 0 and lines[first - 1].lstrip().startswith(("//", "template <")):
        first -= 1
        if lines[first].lstrip().startswith(REASON):
            return True
    return False


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        shown = NOT_INDENTED.sub(lambda found: "\n" * found[0].count("\n") + INDENT, text).split("\n")
        long = [(first, last) for first, last in blocks_in(shown) if last - first >= MOST_LINES]
        for first, last in long:
            if not any(begin < first and last < end for begin, end in long) and not says_why(lines, first):
                print(f"{name}:{first + 1}: a function of {last - first + 1} lines; split it, or say why it is one in a comment before it "
                      f"that begins with `{REASON.strip()}`")


if __name__ == "__main__":
    main()
