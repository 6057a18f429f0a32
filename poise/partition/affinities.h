// SPDX-License-Identifier: BSD-3-Clause
// The weights of a graph's edges, in 32 bits each where they fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "poise/base/large_array.h"

namespace poise::graphs {

/// A list of numbers that are at least 0. It stores them in 32 bits as long as all of them are
/// whole numbers below 2^32, and otherwise as doubles. So no number is rounded. Numbers of bytes
/// and of messages, and their sums, are whole numbers; storing them in 32 bits halves the memory of
/// large graphs.
class Affinities {
 public:
  class Iterator {
   public:
    Iterator(const Affinities& list, std::size_t index) : list_(&list), index_(index) {}
    double operator*() const { return (*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Affinities* list_;
    std::size_t index_;
  };

  double operator[](std::size_t index) const { return is_small_ ? small_[index] : large_[index]; }
  std::size_t size() const { return is_small_ ? small_.size() : large_.size(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  void set(std::size_t index, double value) {
    if (is_small_ && !is_small(value)) widen();
    if (is_small_)
      small_[index] = static_cast<std::uint32_t>(value);
    else
      large_[index] = value;
  }
  void add(std::size_t index, double more) { set(index, (*this)[index] + more); }
  void push_back(double value) {
    if (is_small_ && !is_small(value)) widen();
    if (is_small_)
      small_.push_back(static_cast<std::uint32_t>(value));
    else
      large_.push_back(value);
  }

  void reserve(std::size_t size) { is_small_ ? small_.reserve(size) : large_.reserve(size); }
  void resize(std::size_t size) { is_small_ ? small_.resize(size) : large_.resize(size); }
  void shrink_to_fit() { is_small_ ? small_.shrink_to_fit() : large_.shrink_to_fit(); }

 private:
  static bool is_small(double value) {
    return value <= std::numeric_limits<std::uint32_t>::max() &&
           value == static_cast<std::uint32_t>(value);
  }

  void widen() {
    large_.reserve(small_.capacity());
    large_.assign(small_.begin(), small_.end());
    small_ = LargeArray<std::uint32_t>();  // "= {}" would not free the memory
    is_small_ = false;
  }

  bool is_small_ = true;
  LargeArray<std::uint32_t> small_;
  LargeArray<double> large_;  // replaces small_ once a number does not fit
};

}  // namespace poise::graphs
