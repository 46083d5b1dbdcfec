#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"

namespace halfulp {

enum class CodeKind : std::uint8_t {
  zero,
  subnormal,
  normal,
  largest,  ///< the ends of the finite numbers
  infinity,
  nan,  ///< also positions beyond the end of a table
};

constexpr std::string_view name_of(CodeKind kind) noexcept {
  switch (kind) {
    case CodeKind::zero:
      return "zero";
    case CodeKind::subnormal:
      return "subnormal";
    case CodeKind::normal:
      return "normal";
    case CodeKind::largest:
      return "largest";
    case CodeKind::infinity:
      return "infinity";
    case CodeKind::nan:
      return "nan";
  }
  return "";
}

struct CodePoint {
  std::uint32_t code;
  double value;  ///< as it is read, scale included
  CodeKind kind;
};

/// All codes of a format on one line, under one scale.
struct CodeRow {
  std::string name;
  int bits;
  double multiplier;  ///< 1 without a scale
  std::vector<CodePoint> points;
  std::optional<double> amax;  ///< of the block whose scale was chosen, or doubled or halved

  /// Finite values, ascending, -0 and 0 once.
  std::vector<double> numbers() const;
  /// Codes of one kind in hex, neighbours as ranges: "0x7d-0x7f, 0xfd-0xff"; empty if there is none.
  std::string codes_text(CodeKind kind) const;
};

/// The rows of a format of at most 256 codes: one, or for a block format three: its elements under the scale
/// that its own rule gives to a block (and tensor) of this amax, and under twice and half of it. Where the
/// scale format has no such scale, a quarter stands in, so that fewer than three come only from the ends of
/// the scales.
/// errors: throws Error naming a format with more codes or without a scale for this amax.
std::vector<CodeRow> code_rows(const std::string& name, const BlockFormat& format, double amax);

enum class CodeAxis : std::uint8_t {
  linear,
  log,  ///< by binades on both sides of zero, linear below the smallest magnitude
};

/// Rows over one axis.
struct CodeMap {
  std::vector<CodeRow> rows;
  CodeAxis axis;
  double smallest;  ///< positive magnitude of a number of any row

  /// Where a value stands: itself, or on the log axis sign * (1 + log2(|value| / smallest)); below `smallest`
  /// linear.
  double position(double value) const noexcept;
};

/// The axis that is asked for; else linear if the largest number of every row is within 128 times its
/// smallest and within 4 times the other rows' largest.
/// errors: throws Error if two rows have one name, or there is none.
CodeMap code_map(std::vector<CodeRow> rows, std::optional<CodeAxis> axis);

/// row (from 1), format, multiplier, code, kind, value, position: one line a code, -0 as such; no position
/// for what is not finite.
std::string code_map_csv(const CodeMap& map);

}  // namespace halfulp
