// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/tree.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

#include "poise/base/error.h"

namespace poise::charm {

namespace {

/// The header that precedes the rows of a PE.
struct Header {
  std::int32_t pe = 0;
  PeRow row = {};
  std::uint32_t num_objects = 0, num_pinned = 0, num_messages = 0, num_receivers = 0;
  bool has_sizes = false, has_names = false;
};

template <typename T>
void append(const T* values, std::size_t count, std::vector<char>& bytes) {
  if (count == 0) return;
  const std::size_t start = bytes.size();
  bytes.resize(start + count * sizeof(T));
  std::memcpy(bytes.data() + start, values, count * sizeof(T));
}

template <typename T, typename Of>
void append_each(const std::vector<ObjectRow>& objects, Of of, std::vector<char>& bytes) {
  std::vector<T> values(objects.size());
  std::transform(objects.begin(), objects.end(), values.begin(), of);
  append(values.data(), values.size(), bytes);
}

class Reader {
 public:
  Reader(const char* bytes, std::size_t num_bytes) : bytes_(bytes), left_(num_bytes) {}
  bool is_at_end() const { return left_ == 0; }

  template <typename T>
  std::vector<T> take(std::size_t count) {
    if (left_ / sizeof(T) < count)
      fail("the statistics that a subtree of PEs sent are {} bytes too short",
           count * sizeof(T) - left_);
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), bytes_, count * sizeof(T));
    bytes_ += count * sizeof(T);
    left_ -= count * sizeof(T);
    return values;
  }

 private:
  const char* bytes_;
  std::size_t left_;
};

struct Block {
  Header header;
  std::vector<double> walls_s;
  std::vector<std::uint32_t> pinned;  // indices of the objects that must stay
  std::vector<std::uint64_t> sizes;
  std::vector<ObjectName> names;
  std::vector<MessageRow> messages;
  std::vector<ObjectName> receivers;
};

Block next_block(Reader& reader) {
  Block block;
  block.header = reader.take<Header>(1)[0];
  const Header& header = block.header;
  block.walls_s = reader.take<double>(header.num_objects);
  block.pinned = reader.take<std::uint32_t>(header.num_pinned);
  if (header.has_sizes) block.sizes = reader.take<std::uint64_t>(header.num_objects);
  if (header.has_names) block.names = reader.take<ObjectName>(header.num_objects);
  block.messages = reader.take<MessageRow>(header.num_messages);
  block.receivers = reader.take<ObjectName>(header.num_receivers);
  for (const std::uint32_t object : block.pinned)
    if (object >= header.num_objects)
      fail(
          "the statistics mark object {} of PE {} as not migratable, but that PE has only {} "
          "objects",
          object, header.pe, header.num_objects);
  return block;
}

void add_objects(const Block& block, Subtree& subtree) {
  auto& objects = subtree.statistics.objects;
  const std::size_t first = objects.size();
  const std::int32_t row = subtree.pe_of_row.size();
  for (std::uint32_t i = 0; i < block.header.num_objects; ++i) {
    ObjectRow object;
    object.name = block.names.empty() ? ObjectName{i, block.header.pe} : block.names[i];
    object.wall_s = block.walls_s[i];
    object.bytes = block.sizes.empty() ? 0 : block.sizes[i];
    object.pe = row;
    objects.push_back(object);
    subtree.number_of_object.push_back(i);
  }
  for (const std::uint32_t i : block.pinned) objects[first + i].movable = false;
}

void add_messages(const Block& block, Subtree& subtree) {
  Statistics& statistics = subtree.statistics;
  const std::uint32_t first_receiver = statistics.receivers.size();
  for (MessageRow message : block.messages) {
    if (message.from_pe != -1) message.from_pe = subtree.pe_of_row.size();
    message.first_receiver += first_receiver;
    statistics.messages.push_back(message);
  }
  statistics.receivers.insert(statistics.receivers.end(), block.receivers.begin(),
                              block.receivers.end());
}

}  // namespace

std::vector<char> to_bytes(std::int32_t pe, const Statistics& statistics, bool with_messages) {
  const auto& objects = statistics.objects;
  Header header;
  header.pe = pe;
  header.row = statistics.pes.at(0);
  header.num_objects = objects.size();
  std::vector<std::uint32_t> pinned;
  for (std::uint32_t i = 0; i < objects.size(); ++i) {
    if (!objects[i].movable) pinned.push_back(i);
    header.has_sizes = header.has_sizes || objects[i].bytes != 0;
  }
  header.num_pinned = pinned.size();
  header.has_names = with_messages;
  if (with_messages) {
    header.num_messages = statistics.messages.size();
    header.num_receivers = statistics.receivers.size();
  }
  std::vector<char> bytes;
  append(&header, 1, bytes);
  append_each<double>(
      objects, [](const ObjectRow& object) { return object.wall_s; }, bytes);
  append(pinned.data(), pinned.size(), bytes);
  if (header.has_sizes)
    append_each<std::uint64_t>(
        objects, [](const ObjectRow& object) { return object.bytes; }, bytes);
  if (!with_messages) return bytes;
  append_each<ObjectName>(
      objects, [](const ObjectRow& object) { return object.name; }, bytes);
  append(statistics.messages.data(), statistics.messages.size(), bytes);
  append(statistics.receivers.data(), statistics.receivers.size(), bytes);
  return bytes;
}

Subtree subtree_of(const char* bytes, std::size_t num_bytes) {
  std::vector<Block> blocks;
  for (Reader reader(bytes, num_bytes); !reader.is_at_end();) blocks.push_back(next_block(reader));
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.header.pe < b.header.pe; });
  Subtree subtree;
  for (const Block& block : blocks) {
    subtree.statistics.pes.push_back(block.header.row);
    subtree.statistics.pes.back().number = block.header.pe;
    add_objects(block, subtree);
    add_messages(block, subtree);
    subtree.statistics.names_last = block.header.has_names;
    subtree.pe_of_row.push_back(block.header.pe);
  }
  return subtree;
}

std::vector<Move> moves_of(const Subtree& subtree, const std::vector<std::int32_t>& row_of_object) {
  std::vector<Move> moves;
  const auto& objects = subtree.statistics.objects;
  for (std::size_t i = 0; i < row_of_object.size(); ++i)
    if (row_of_object[i] != objects[i].pe)
      moves.push_back({subtree.pe_of_row.at(objects[i].pe), subtree.number_of_object.at(i),
                       subtree.pe_of_row.at(row_of_object[i])});
  return moves;
}

std::string tree_for(const Job& job, const std::string& strategy) {
  if (job.num_processes == 1 || job.num_pes == job.num_processes)
    return fmt::format(R"({{
  "tree": "PE_Root",
  "root": {{"pe": 0, "strategies": ["{}"]}}
}}
)",
                       strategy);
  return fmt::format(R"({{
  "tree": "PE_Process_Root",
  "process": {{"strategies": ["{0}"]}},
  "root": {{"pe": 0, "step_freq": 3, "strategies": ["{0}"]}}
}}
)",
                     strategy);
}

}  // namespace poise::charm
