#include "experiments/models/transformer_shapes.h"

#include <array>
#include <vector>

#include "formats/error.h"
#include "formats/nearest_name.h"
#include "optimizers/memory.h"

namespace halfulp {
namespace {

using Family = TransformerShape::Family;

// name, family, layers, width, heads, feed-forward, vocabulary, context
constexpr std::array<TransformerShape, 8> shapes{{
    {"gpt2_124m", Family::gpt2, 12, 768, 12, 4 * 768, 50257, 1024},
    {"gpt2_355m", Family::gpt2, 24, 1024, 16, 4 * 1024, 50257, 1024},
    {"gpt2_774m", Family::gpt2, 36, 1280, 20, 4 * 1280, 50257, 1024},
    {"gpt2_1.5b", Family::gpt2, 48, 1600, 25, 4 * 1600, 50257, 1024},
    {"llama_60m", Family::llama, 8, 512, 8, 1376, 32000, 256},
    {"llama_130m", Family::llama, 12, 768, 12, 2048, 32000, 256},
    {"llama_350m", Family::llama, 24, 1024, 16, 2736, 32000, 256},
    {"llama_1b", Family::llama, 24, 2048, 32, 5461, 32000, 256},
}};

void add_gpt2(const TransformerShape& shape, TensorRegistry& tensors) {
  const std::size_t h = shape.width, f = shape.feed_forward;
  const auto add = [&](const std::string& name, std::size_t outputs, std::size_t inputs) {
    tensors.add(name + ".weight", {outputs, inputs});
    tensors.add(name + ".bias", {outputs});
  };
  const auto add_norm = [&](const std::string& name) {
    tensors.add(name + ".weight", {h});
    tensors.add(name + ".bias", {h});
  };
  tensors.add("wte.weight", {shape.vocabulary, h});
  tensors.add("wpe.weight", {shape.context, h});
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "h." + std::to_string(i) + ".";
    add_norm(layer + "ln_1");
    add(layer + "attn.c_attn", 3 * h, h);
    add(layer + "attn.c_proj", h, h);
    add_norm(layer + "ln_2");
    add(layer + "mlp.c_fc", f, h);
    add(layer + "mlp.c_proj", h, f);
  }
  add_norm("ln_f");
}

void add_llama(const TransformerShape& shape, TensorRegistry& tensors) {
  const std::size_t h = shape.width, f = shape.feed_forward;
  tensors.add("embed_tokens.weight", {shape.vocabulary, h});
  for (std::size_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    for (const char* matrix : {"q_proj", "k_proj", "v_proj", "o_proj"})
      tensors.add(layer + "self_attn." + matrix + ".weight", {h, h});
    for (const char* matrix : {"gate_proj", "up_proj"})
      tensors.add(layer + "mlp." + matrix + ".weight", {f, h});
    tensors.add(layer + "mlp.down_proj.weight", {h, f});
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      tensors.add(layer + norm + ".weight", {h});
  }
  tensors.add("norm.weight", {h});
  tensors.add("lm_head.weight", {shape.vocabulary, h});
}

}  // namespace

std::span<const TransformerShape> transformer_shapes() noexcept { return shapes; }

const TransformerShape& find_transformer(const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const TransformerShape& shape : shapes) {
    if (shape.name == name) return shape;
    names.emplace_back(shape.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  throw Error("model", "no such model (nearest: " + nearest_name(name, names) + ")", name, all);
}

TensorRegistry tensors_of(const TransformerShape& shape) {
  TensorRegistry tensors;
  if (shape.family == Family::gpt2)
    add_gpt2(shape, tensors);
  else
    add_llama(shape, tensors);
  return tensors;
}

std::size_t activation_bytes_of_layer(const TransformerShape& shape, const BlockFormat& format,
                                      std::size_t batch, std::size_t length) {
  const std::size_t tokens = batch * length;
  const std::vector<std::size_t> hidden{tokens, shape.width}, wide{tokens, shape.feed_forward},
      attention{batch, shape.heads, length, length};
  const auto bytes = [&](std::size_t count, const std::vector<std::size_t>& of) {
    return count * stored_bytes(format, of);
  };
  if (shape.family == Family::llama) return bytes(8, hidden) + bytes(4, wide) + bytes(1, attention);
  const std::size_t masks = 2 * tokens * shape.width + batch * shape.heads * length * length;
  return bytes(8, hidden) + bytes(2, wide) + bytes(2, attention) + masks;
}

}  // namespace halfulp
