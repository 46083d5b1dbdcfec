#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "emulation/registry.h"
#include "formats/block_format.h"

namespace halfulp {

/// A decoder-only transformer by its extents.
struct TransformerShape {
  enum class Family {
    gpt2,   ///< learned positions, biases, tied embedding, feed-forward of 4 widths, dropout
    llama,  ///< rotary positions, no biases, own output matrix, gated feed-forward, no dropout
  };
  std::string_view name;
  Family family;
  std::size_t layers, width, heads, feed_forward, vocabulary, context;
};

/// GPT-2 in its four sizes (Radford et al. 2019), and the LLaMA-like ones that GaLore and APOLLO train on C4
/// (their configs). context: the number of positions of GPT-2; the length that the others are trained at.
std::span<const TransformerShape> transformer_shapes() noexcept;

/// errors: throws Error naming the nearest and all of them.
const TransformerShape& find_transformer(const std::string& name);

/// Names and shapes of all parameters; matrices are [outputs, inputs], as blocks along the last axis want.
TensorRegistry tensors_of(const TransformerShape& shape);

/// Bytes that one layer keeps for its backward pass: what its matmuls, softmax, activation and norms read
/// there, in this format, and one byte for each dropout decision. With b sequences of length s, width h, a
/// heads and feed-forward f:
///   gpt2:  (16 s b h + 2 a s^2 b) numbers and (2 s b h + a s^2 b) bytes; in 16 bits these are
///          s b h (34 + 5 a s / h) bytes (Korthikanti et al. 2022, section 4.1, without any parallelism)
///   llama: (8 s b h + 4 s b f + a s^2 b) numbers, derived the same way: inputs of two norms and of the
///          query, key and value matrices, q, k, v, the softmax, input of the output matrix; of the
///          feed-forward its input, gate, up, gate after its activation, and the product of the two
/// Left out: embeddings, the last norm, logits and loss (s b vocabulary numbers, often in fp32), statistics
/// of norms, temporaries, fragmentation; recomputation and fused attention keep less.
/// in: batch, length >= 1
std::size_t activation_bytes_of_layer(const TransformerShape& shape, const BlockFormat& format,
                                      std::size_t batch, std::size_t length);

}  // namespace halfulp
