// SPDX-License-Identifier: BSD-3-Clause
// The script of a report page. It sorts tables, saves the data as files, and shows the value at the
// pointer. Without the script, the page shows the same data.
#pragma once

#include <string>
#include <string_view>

namespace poise::apps {

std::string_view page_script();

/// Returns HTML that contains the data of the page and two buttons. The first button saves `json`,
/// the second saves the tables of class "sortable" as CSV. The buttons are hidden until the script
/// runs.
std::string download_html(std::string_view json);

}  // namespace poise::apps
