// SPDX-License-Identifier: BSD-3-Clause
// The script of a report page: sorting, downloads and values under the pointer. Without it the page
// shows the same data.
#pragma once

#include <string>
#include <string_view>

namespace poise::apps {

std::string_view page_script();

/// Returns the buttons that save the page's data, and the data: `json` is one JSON document, the
/// tables of class "sortable" become CSV. Hidden until the script runs.
std::string download_html(std::string_view json);

}  // namespace poise::apps
