// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/archive/archive.h"

#include <gtest/gtest.h>
#include <list>
#include <memory_resource>

namespace elsewhere {

struct Colour {
  std::string name;
  friend bool operator==(const Colour&, const Colour&) = default;
};

template <typename Archive>
void serialize(Archive& archive, Colour& colour) {
  archive(colour.name);
}

}  // namespace elsewhere

namespace poise {
namespace {

struct Point {
  double x, y;
  friend bool operator==(const Point&, const Point&) = default;
};

/// A type that serializes only one of its two members, because `cache` can be recomputed.
struct Body {
  Point at{};
  int cache = 0;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};

template <typename T>
T back_and_forth(const T& value) {
  const Buffer buffer = to_bytes(value);
  Sizer sizer;
  sizer(value);
  EXPECT_EQ(buffer.size(), sizer.bytes());
  return from_bytes<T>(buffer.bytes());
}

template <typename T>
void expect_unchanged(const T& value) {
  EXPECT_EQ(back_and_forth(value), value);
}

TEST(Archive, reads_back_the_values_written) {
  expect_unchanged(42);
  expect_unchanged(Point{1, -0.5});
  expect_unchanged(std::string("a longer text than fits a small string"));
  expect_unchanged(std::vector<double>{1, 2, 3});
  expect_unchanged(std::vector<double>{});
  expect_unchanged(std::vector<bool>{true, false, true});
  expect_unchanged(std::vector<std::vector<Point>>{{{1, 2}}, {}, {{3, 4}, {5, 6}}});
  expect_unchanged(std::array<std::string, 2>{"a", "b"});
  expect_unchanged(std::list<std::string>{"x", "", "z"});
  expect_unchanged(std::map<std::string, std::vector<int>>{{"one", {1}}, {"none", {}}});
  expect_unchanged(std::unordered_map<int, std::string>{{1, "one"}, {2, "two"}});
  expect_unchanged(std::set<std::string>{"b", "a"});
  expect_unchanged(std::tuple<int, std::string, Point>{1, "t", {2, 3}});
  expect_unchanged(std::optional<std::string>{});
  expect_unchanged(std::optional<std::string>{"there"});
  expect_unchanged(std::variant<int, std::string>{"second"});
  expect_unchanged(std::vector<elsewhere::Colour>{{"red"}, {"blue"}});
}

TEST(Archive, a_vector_can_be_read_even_if_the_archive_starts_at_an_unaligned_address) {
  Buffer buffer;
  buffer.append("x", 1);
  Writer writer(buffer);
  writer(std::string("abc"), std::vector<double>{1.5, 2.5});
  std::string text;
  std::vector<double> values;
  Reader reader(buffer.bytes().subspan(1));
  reader(text, values);
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(values, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(reader.remaining(), 0u);
}

struct alignas(4096) Page {
  char text[4096];
};

TEST(Archive, the_padding_before_elements_with_a_large_alignment_is_zero) {
  const Buffer bytes = to_bytes(std::vector<Page>(2));
  ASSERT_EQ(bytes.size(), 3 * sizeof(Page));
  for (std::size_t i = sizeof(std::uint64_t); i < sizeof(Page); ++i)
    ASSERT_EQ(bytes.data()[i], std::byte{0}) << i;
}

TEST(Archive, members_that_the_function_serialize_does_not_list_are_not_written) {
  Body body;
  body.at = {1, 2};
  body.cache = 99;
  EXPECT_EQ(to_bytes(body).size(), sizeof(Point));
  EXPECT_EQ(back_and_forth(body).at, body.at);
  EXPECT_EQ(back_and_forth(body).cache, 0);
  EXPECT_EQ(back_and_forth(std::vector<Body>(3, body))[2].at, body.at);
}

TEST(Archive, writes_a_unique_ptr_as_the_value_it_points_to) {
  const auto copy = back_and_forth(std::make_unique<std::string>("owned"));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(*copy, "owned");
  EXPECT_EQ(back_and_forth(std::unique_ptr<std::string>()), nullptr);
}

TEST(Archive, a_span_is_written_like_a_vector_and_read_without_a_copy) {
  const std::vector<double> values{1, 2, 3};
  const Buffer buffer = to_bytes(std::span<const double>(values));
  EXPECT_EQ(from_bytes<std::vector<double>>(buffer.bytes()), values);
  const auto view = from_bytes<std::span<const double>>(buffer.bytes());
  ASSERT_EQ(view.size(), 3u);
  EXPECT_EQ(view[2], 3);
  EXPECT_GE(reinterpret_cast<const std::byte*>(view.data()), buffer.data());
}

TEST(Archive, a_span_of_an_empty_vector_can_be_read_from_unaligned_bytes) {
  Buffer buffer;
  Writer writer(buffer);
  writer(std::uint32_t{7}, std::vector<double>{}, std::span<const double>{}, 'x');
  Reader reader(buffer.bytes());
  std::uint32_t number = 0;
  std::span<const double> first, second;
  char last = 0;
  reader(number, first, second, last);
  EXPECT_TRUE(first.empty() && second.empty());
  EXPECT_EQ(last, 'x');
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Archive, throws_if_bytes_are_missing_at_the_end) {
  const Buffer whole = to_bytes(std::tuple{std::vector<double>{1, 2}, std::string("end")});
  using T = std::tuple<std::vector<double>, std::string>;
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(from_bytes<T>(whole.bytes().first(size)), Error) << size;
  EXPECT_NO_THROW(from_bytes<T>(whole.bytes()));
}

TEST(Archive, a_count_larger_than_the_archive_is_refused_before_memory_is_allocated) {
  const Buffer huge_count = to_bytes(std::uint64_t{1} << 60);
  EXPECT_THROW(from_bytes<std::vector<double>>(huge_count.bytes()), Error);
  EXPECT_THROW(from_bytes<std::string>(huge_count.bytes()), Error);
  EXPECT_THROW(from_bytes<std::vector<std::string>>(huge_count.bytes()), Error);
}

TEST(Archive, throws_if_bytes_remain_after_the_value) {
  EXPECT_THROW(from_bytes<int>(to_bytes(std::uint64_t{1}).bytes()), Error);
}

TEST(Buffer, allocates_from_the_given_memory_resource) {
  std::array<std::byte, 4096> room{};
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size(),
                                             std::pmr::null_memory_resource());
  Buffer buffer(&memory);
  for (int i = 0; i < 100; ++i) buffer.append(&i, sizeof i);
  Buffer moved = std::move(buffer);
  EXPECT_TRUE(moved.data() >= room.data() && moved.data() < room.data() + room.size());
  EXPECT_THROW(moved.reserve(room.size()), std::bad_alloc);
  Buffer view = Buffer::view(moved.data(), moved.size());
  EXPECT_EQ(view.data(), moved.data());
  EXPECT_THROW(view.append("x", 1), std::bad_alloc);
  EXPECT_EQ(view.size(), 400u);
}

TEST(Buffer, keeps_its_bytes_when_it_grows_or_is_moved) {
  Buffer buffer;
  for (int i = 0; i < 1000; ++i) buffer.append(&i, sizeof i);
  Buffer moved = std::move(buffer);
  ASSERT_EQ(moved.size(), 4000u);
  for (int i = 0; i < 1000; ++i) {
    int value = -1;
    std::memcpy(&value, moved.data() + 4 * i, sizeof value);
    EXPECT_EQ(value, i);
  }
  moved.append("abc", 3);
  moved.pad(8);
  EXPECT_EQ(moved.size(), 4008u);
}

}  // namespace
}  // namespace poise
