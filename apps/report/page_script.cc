// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/page_script.h"

namespace poise::apps {

namespace {

constexpr std::string_view kScript =
#include "apps/report/page.js.inc"  // CMake converts page.js to this literal
    ;

}  // namespace

std::string_view page_script() { return kScript; }

std::string download_html(std::string_view json) {
  std::string out =
      "<p class=\"tools\" hidden><button class=\"json\">Save the data as JSON</button>\n"
      "<button class=\"csv\">Save the tables as CSV</button></p>\n"
      "<script type=\"application/json\" id=\"data\">";
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";  // escapes "<", because a name could otherwise end the script element
    else
      out += c;
  }
  return out + "</script>\n";
}

}  // namespace poise::apps
