#include "stoker/tools/program/html_text.h"

#include <gtest/gtest.h>

namespace stoker::html_text_test {
namespace {

TEST(HtmlText, NothingInItIsTakenForHtml) {
  EXPECT_EQ(EscapedHtml("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
  EXPECT_EQ(EscapedHtml("a\nb\tc"), "a\nb\tc");
  EXPECT_EQ(EscapedHtml("\x1b[31m\xff"), "\\u001b[31m\\xff");
}

TEST(HtmlText, ATableFillsShortRowsAndAlignsNumbers) {
  EXPECT_EQ(HtmlTable({{"stage", "n"}, {"<a>"}}, {1}),
            "<div class=\"wide\"><table>\n"
            "<tr><th scope=\"col\">stage</th><th scope=\"col\" class=\"number\">n</th></tr>\n"
            "<tr><td>&lt;a&gt;</td><td class=\"number\"></td></tr>\n</table></div>\n");
}

TEST(HtmlText, ASectionWithoutABodyIsLeftOut) {
  EXPECT_EQ(HtmlSection("A", ""), "");
  EXPECT_EQ(HtmlSection("A & B", "x\n"), "<section>\n<h2>A &amp; B</h2>\nx\n</section>\n");
}

}  // namespace
}  // namespace stoker::html_text_test
