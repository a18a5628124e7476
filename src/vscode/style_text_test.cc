#include "vscode/style_text.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

TEST(StyleText, OneValueStaysOne) {
  for (const char* plain : {"", "1px solid red", "none; position: absolute; z-index: 1",
                            "rgba(1, 2, 3, 0.5)", "var(--vscode-editor-background)",
                            "'Fira Code', \"It's\"", "0 / 1", "calc((1px + 2px) * 3)"})
    EXPECT_TRUE(is_plain_style(plain, false)) << plain;
  for (const char* rule : {"none; .x:not(&){display:none}", "none}", "{", "a\\7b", "'", "\"a",
                           "red /* ", "url(x", "(", ")(", "a\nb", "a\x0c"})
    EXPECT_FALSE(is_plain_style(rule, true)) << rule;
}

TEST(StyleText, NothingIsFetchedWithoutThePermission) {
  for (const char* fetches :
       {"none; background: URL(https://e.org/x)", "image-set(\"https://e.org/x\" 1x)",
        "-webkit-image-set('x' 1x)", "src('x')", "cross-fade(url(a), url(b))"}) {
    EXPECT_FALSE(is_plain_style(fetches, false)) << fetches;
    EXPECT_TRUE(is_plain_style(fetches, true)) << fetches;
  }
}

TEST(StyleText, NoListStandsWhereAValueDoes) {
  using Json = nlohmann::ordered_json;
  for (const Json& list : {Json::array({"x;} .y{z:0}"}), Json::array({Json::array({"a{"})}),
                           Json::array({Json::object(), "a{"})}) {
    Json options = {{"gutterIconSize", list}, {"after", {{"margin", "0"}}}};
    EXPECT_EQ(strip_styles(options, true), 1U) << list;
    EXPECT_EQ(options, (Json{{"after", {{"margin", "0"}}}}));
  }
  Json each = Json::array({{{"range", Json::object()}, {"hoverMessage", Json::array({"a{"})}}});
  EXPECT_EQ(strip_styles(each, true), 0U);
}

TEST(StyleText, NamesAreNames) {
  EXPECT_TRUE(is_style_name("TextEditorDecorationType12"));
  EXPECT_TRUE(is_style_name("gitDecoration.modifiedResourceForeground"));
  for (const char* other : {"a b", "a,b", "a)", "a{", "a\"", "a:b", "a>b"})
    EXPECT_FALSE(is_style_name(other)) << other;
}

}  // namespace
}  // namespace bulkhead
