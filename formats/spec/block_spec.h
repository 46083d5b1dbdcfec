#pragma once
#include <optional>
#include <string>

#include "formats/block_format.h"
#include "formats/spec/reader.h"

namespace halfulp {

/// A block format's spec, its name already read: block{ELEMENT,SHAPE,key=value,...}, or a name of the
/// catalog, which braces with a shape and keys may change. Nothing if the name is no block format's.
std::optional<BlockFormat> read_block_after(SpecReader& reader, const SpecWord& name);

/// block{element,shape,scale=...} without other keys: ocp_floor for e8m0 scales, else amax; a block of zeros
/// has the smallest scale, but 1 where a wide signed format (fp32) holds amax over a number.
BlockFormat plain_block(const ScalarFormat& element, const BlockShape& shape, const ScalarFormat& scale);

/// The scale of a block of zeros in a block that does not say it.
ZeroBlock plain_zero_block(const ScalarFormat& scale, ScaleRule rule) noexcept;

/// 16 (1x16), 16x16, row, column, flat256, tensor.
std::string shape_spec(const BlockShape& shape);

/// A number in the fewest characters that SpecReader::number() reads back: decimal or 2^N.
std::string number_spec(double value);

}  // namespace halfulp
