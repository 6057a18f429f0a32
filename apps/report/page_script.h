// SPDX-License-Identifier: BSD-3-Clause
// The script of a report page, for sorting, downloads and values under the pointer. Without the
// script, the page shows the same data.
#pragma once

#include <string>
#include <string_view>

namespace poise::apps {

std::string_view page_script();

/// Returns HTML with the data of the page, and with two buttons that save it. The first saves
/// `json`, the second the tables of class "sortable" as CSV. The buttons are hidden until the
/// script runs.
std::string download_html(std::string_view json);

}  // namespace poise::apps
