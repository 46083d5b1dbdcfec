#include "experiments/models/transformer_shapes.h"

#include <doctest/doctest.h>

#include <set>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

std::size_t parameters(const char* name) { return tensors_of(find_transformer(name)).total_size(); }

TEST_CASE("transformers: parameters are those of the published models") {
  // 12 L h^2 + 13 L h + 2 h + (vocabulary + context) h for GPT-2.
  CHECK(parameters("gpt2_124m") == 124'439'808);
  CHECK(parameters("gpt2_355m") == 354'823'168);
  CHECK(parameters("gpt2_774m") == 774'030'080);
  CHECK(parameters("gpt2_1.5b") == 1'557'611'200);
  for (const TransformerShape& s : transformer_shapes()) {
    CAPTURE(s.name);
    const std::size_t h = s.width, l = s.layers;
    const std::size_t by_hand =
        s.family == TransformerShape::Family::gpt2
            ? 12 * l * h * h + 13 * l * h + 2 * h + (s.vocabulary + s.context) * h
            : l * (4 * h * h + 3 * h * s.feed_forward + 2 * h) + h + 2 * s.vocabulary * h;
    CHECK(tensors_of(s).total_size() == by_hand);
    CHECK(s.width % s.heads == 0);
  }
  // What the names of the LLaMA-like ones round.
  CHECK(parameters("llama_60m") == 58'073'600);
  CHECK(parameters("llama_130m") == 134'105'856);
  CHECK(parameters("llama_350m") == 367'969'280);
  CHECK(parameters("llama_1b") == 1'339'082'752);
}

TEST_CASE("transformers: tensors have the names and shapes of a layer") {
  std::set<std::string> gpt2, llama;
  const TensorRegistry of_gpt2 = tensors_of(find_transformer("gpt2_124m"));
  const TensorRegistry of_llama = tensors_of(find_transformer("llama_60m"));
  for (const TensorInfo& tensor : of_gpt2.tensors()) {
    gpt2.insert(tensor.name);
    if (tensor.name == "h.11.attn.c_attn.weight") CHECK(tensor.shape == std::vector<std::size_t>{2304, 768});
  }
  for (const TensorInfo& tensor : of_llama.tensors()) {
    llama.insert(tensor.name);
    if (tensor.name == "layers.7.mlp.down_proj.weight")
      CHECK(tensor.shape == std::vector<std::size_t>{512, 1376});
  }
  CHECK(gpt2.size() == 2 + 12 * 12 + 2);
  CHECK(gpt2.count("h.11.attn.c_attn.weight") == 1);
  CHECK(llama.size() == 1 + 8 * 9 + 2);
  CHECK(llama.count("layers.7.mlp.down_proj.weight") == 1);
}

TEST_CASE("transformers: activations of 16 bits are s b h (34 + 5 a s / h) bytes a layer") {
  for (const TransformerShape& shape : transformer_shapes()) {
    if (shape.family != TransformerShape::Family::gpt2) continue;
    for (const std::size_t b : {1u, 3u, 8u})
      for (const std::size_t s : {1u, 64u, 1024u}) {
        const std::size_t h = shape.width, a = shape.heads;
        CHECK(activation_bytes_of_layer(shape, unscaled(bf16), b, s) == s * b * (34 * h + 5 * a * s));
        // twice the numbers in fp32, the masks as they are
        CHECK(activation_bytes_of_layer(shape, unscaled(fp32), b, s) ==
              2 * s * b * (32 * h + 4 * a * s) + s * b * (2 * h + a * s));
      }
  }
}

TEST_CASE("transformers: activations under block formats count their scales") {
  // gpt2: 16 s b h + 2 a s^2 b numbers of 6.25 bits; s, h and 4 h are whole blocks of 32.
  const TransformerShape& gpt2 = find_transformer("gpt2_124m");
  const std::size_t b = 2, s = 64, h = 768, a = 12;
  CHECK(activation_bytes_of_layer(gpt2, parse_format("mxfp6_e2m3"), b, s) ==
        (16 * s * b * h + 2 * a * s * s * b) * 25 / 32 + 2 * s * b * h + a * s * s * b);
}

TEST_CASE("transformers: activations of a gated layer") {
  const TransformerShape& llama = find_transformer("llama_60m");
  const std::size_t b = 3, s = 256, h = 512, f = 1376, a = 8;
  CHECK(activation_bytes_of_layer(llama, unscaled(bf16), b, s) ==
        2 * (8 * s * b * h + 4 * s * b * f + a * s * s * b));
}

TEST_CASE("transformers: a name that is none is an error that names the nearest") {
  try {
    find_transformer("gpt2_1.5");
    FAIL("no error");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("nearest: gpt2_1.5b") != std::string::npos);
    CHECK(text.find("llama_60m") != std::string::npos);
  }
}

}  // namespace
}  // namespace halfulp
