// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace poise::profile {

namespace {

constexpr const char* kPeriod = "POISE_PROFILE_PERIOD_NS";
constexpr const char* kReorder = "POISE_REORDER";

std::int64_t read_period_ns(const std::string& text, std::vector<std::string>& notes) {
  if (text.empty()) return 0;
  std::int64_t period_ns = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, period_ns);
  const bool is_number = stop == end && error == std::errc();
  if (is_number && (period_ns == 0 || (period_ns >= kMinPeriod_ns && period_ns <= kMaxPeriod_ns)))
    return period_ns;
  notes.push_back(std::string(kPeriod) + "=" + text + " is not 0 or a number of nanoseconds from " +
                  std::to_string(kMinPeriod_ns) + " to " + std::to_string(kMaxPeriod_ns) +
                  "; phases are found as without it");
  return 0;
}

Settings::Reorder read_reorder(const std::string& text, std::vector<std::string>& notes) {
  if (text.empty() || text == "0") return Settings::Reorder::off;
  if (text == "1") return Settings::Reorder::on;
  if (text == "verbose") return Settings::Reorder::verbose;
  notes.push_back(std::string(kReorder) + "=" + text +
                  " is not one of 0, 1, verbose; no ranks are reordered");
  return Settings::Reorder::off;
}

}  // namespace

Settings read_settings(const std::function<const char*(const char*)>& value_of) {
  const auto text = [&](const char* name) {
    const char* const value = value_of(name);
    return std::string(value == nullptr ? "" : value);
  };
  Settings read;
  read.output = text("POISE_PROFILE");
  read.parts = text("POISE_PROFILE_PARTS");
  if (!read.output.empty()) read.period_ns = read_period_ns(text(kPeriod), read.notes);
  read.reorder = read_reorder(text(kReorder), read.notes);
  read.machine = text("POISE_REORDER_MACHINE");
  return read;
}

const Settings& settings() {
  static const Settings read = read_settings([](const char* name) { return std::getenv(name); });
  return read;
}

void print_note(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::fprintf(stderr, "poise profile: %s\n", text.c_str());
}

}  // namespace poise::profile
