// SPDX-License-Identifier: BSD-3-Clause
// The script of a report page, for sorting, downloads and values under the pointer. Without the
// script, the page shows the same data.
#pragma once

#include <string>
#include <string_view>

namespace poise::apps {

std::string_view page_script();

/// Returns buttons that save the page's data, and the data: `json` is one JSON document, and the
/// tables of class "sortable" become CSV. They are hidden until the script runs.
std::string download_html(std::string_view json);

}  // namespace poise::apps
