#pragma once
#include <random>

#include "analysis/element_step.h"
#include "formats/spec.h"
#include "formats/value_table.h"
#include "tests/analysis/recount_row.h"

// Tiles made by hand: no rule ever did such steps, but every branch of a probe sees them.
namespace halfulp::test {

/// Integers, choices and numbers from one seed; only raw outputs of the generator are used.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}
  std::size_t below(std::size_t n) { return generator_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  /// +-m 2^-k with m in [1, 2) of few bits and k in 0..19; floats.
  double number() {
    const double x = std::ldexp(1.0 + static_cast<double>(below(64)) / 64, -static_cast<int>(below(20)));
    return one_in(2) ? x : -x;
  }
  /// What no format stores, or also what a gradient may well be.
  double special(bool is_stored) {
    const double all[] = {std::nan(""), none, -none, 0x1p-149, 1e30, -0.0};
    return all[below(is_stored ? 3 : 6)];
  }

 private:
  std::mt19937_64 generator_;
};

/// A number that the format stores under a multiplier: often one of the ends, of the smallest or zero.
inline double stored_number(Draws& draw, const BlockFormat& format, double multiplier) {
  const ScalarFormat& f = format.element;
  if (f == fp32) return draw.one_in(8) ? 0.0 : draw.one_in(16) ? f.max_finite() : draw.number();
  const std::vector<double>& values = numbers_of(f);
  const auto zero =
      static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), 0.0) - values.begin());
  const std::size_t near_zero = std::min(values.size() - 1, zero + draw.below(3) - (zero > 0 ? 1 : 0));
  const std::size_t at = draw.one_in(4)   ? near_zero
                         : draw.one_in(6) ? values.size() - 1
                         : draw.one_in(6) ? 0
                                          : draw.below(values.size());
  const double number = format.has_scale() ? static_cast<float>(values[at] * multiplier) : values[at];
  return number == 0 && draw.one_in(2) ? -0.0 : number;
}

template <class R>
struct MadeState {
  StateSlot slot;
  SlotPlan plan;
  std::vector<R> before, wanted, after, unmoved;
  std::vector<double> multiplier;
};

template <class R>
struct MadeTile {
  SlotPlan plan;
  std::size_t weight_slot = 0, first = 0;
  std::uint32_t tensor = 0;
  TypicalStep typical;
  bool made_of_parts = false;
  std::vector<R> before, gradient, update, wanted, after, unmoved, decay, without_decay;
  std::vector<double> multiplier, multiplier_before;
  std::vector<MadeState<R>> states;

  /// Shows the tile to a probe.
  template <class P>
  void show(P& probe) const {
    std::vector<StateRecord<R>> shown;
    for (const MadeState<R>& s : states)
      shown.push_back({s.slot, s.plan, s.before, s.wanted, s.after, s.unmoved, s.multiplier});
    TileRecord<R> record{plan,   weight_slot, first, before,  gradient,
                         update, wanted,      after, unmoved, multiplier};
    record.tensor = tensor;
    record.typical = typical;
    record.multiplier_before = multiplier_before;
    record.decay = decay;
    record.without_decay = without_decay;
    record.states = shown;
    record.made_of_parts = made_of_parts;
    probe.see(record);
  }
};

inline double draw_multiplier(Draws& draw, const BlockFormat& format) {
  const double all[] = {1, 0.25, 3, 0x1.23456p-5 * 1.375, 0x1p-20, 0x1.0000011p-5, 0};
  return format.has_scale() ? all[draw.below(draw.one_in(8) ? 7 : 6)] : 1;
}

template <class R>
MadeState<R> draw_state(Draws& draw, std::size_t count, const StateSlot& slot) {
  const BlockFormat formats[] = {parse_format("fp8_block256"), parse_format("fp8_block256_e5m2"),
                                 unscaled(bf16)};
  const BlockFormat format = formats[draw.below(3)];
  MadeState<R> s{slot, state_slot(format), {}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    const double m = draw_multiplier(draw, format), old = draw.one_in(2) ? m : draw_multiplier(draw, format);
    const double before = stored_number(draw, format, old);
    const double unmoved = old == m ? before : stored_number(draw, format, m);
    const double wanted = draw.one_in(40)  ? draw.special(false)
                          : draw.one_in(3) ? before * 0.999
                          : draw.one_in(8) ? -before
                          : draw.one_in(4) ? before
                                           : before + 1000 * draw.number();
    s.before.push_back(static_cast<R>(before));
    s.unmoved.push_back(static_cast<R>(unmoved));
    s.wanted.push_back(static_cast<R>(wanted));
    s.after.push_back(static_cast<R>(draw.one_in(2) ? unmoved : stored_number(draw, format, m)));
    s.multiplier.push_back(m);
  }
  if (draw.one_in(6)) s.multiplier.clear();
  return s;
}

/// A tile of `count` elements in this format.
template <class R>
MadeTile<R> draw_tile(Draws& draw, const BlockFormat& format, std::size_t count) {
  MadeTile<R> t;
  t.plan = weight_slot(format);
  if (draw.one_in(3)) t.plan.rounding = stochastic;
  if (draw.one_in(2)) t.typical = {0x1p-10, draw.one_in(2) ? 0x1p-8 : 0};
  const bool decays = draw.one_in(2);
  for (std::size_t i = 0; i < count; ++i) {
    const double m = draw_multiplier(draw, format), old = draw.one_in(2) ? m : draw_multiplier(draw, format);
    const double before = stored_number(draw, format, old), end = stored_number(draw, format, m);
    const double unmoved = old == m ? before : draw.one_in(3) ? end : stored_number(draw, format, m);
    const double update = draw.one_in(5)   ? 0
                          : draw.one_in(9) ? before / 4
                          : draw.one_in(9) ? 100 * draw.number()
                                           : draw.number();
    const double after = draw.one_in(2) ? unmoved : draw.one_in(3) ? end : stored_number(draw, format, m);
    double numbers[] = {before, draw.one_in(4) ? 0 : draw.number(),
                        update, draw.one_in(9) ? before : before + update,
                        after,  unmoved};
    const std::size_t which = draw.below(6);
    if (draw.one_in(50)) numbers[which] = draw.special(which == 0 || which > 3);
    std::vector<R>* all[] = {&t.before, &t.gradient, &t.update, &t.wanted, &t.after, &t.unmoved};
    for (std::size_t k = 0; k < 6; ++k) all[k]->push_back(static_cast<R>(numbers[k]));
    t.multiplier.push_back(m);
    t.multiplier_before.push_back(old);
    if (!decays) continue;
    t.decay.push_back(static_cast<R>(draw.one_in(30)  ? draw.special(false)
                                     : draw.one_in(5) ? 0.0
                                                      : draw.number()));
    t.without_decay.push_back(static_cast<R>(draw.one_in(3)    ? stored_number(draw, format, m)
                                             : draw.one_in(40) ? none
                                                               : after));
  }
  if (draw.one_in(8)) {  // a compensated slot, or a weight made of parts: on no grid
    t.multiplier.clear();
    t.multiplier_before.clear();
    t.made_of_parts = draw.one_in(2);
  } else if (draw.one_in(4)) {
    t.multiplier_before.clear();
  }
  const std::vector<StateSlot> slots{
      {"m", Moment::first}, {"v", Moment::second}, {"v_e", Moment::second}, {"k", Moment::none}};
  for (const StateSlot& slot : slots)
    if (draw.one_in(2)) t.states.push_back(draw_state<R>(draw, count, slot));
  return t;
}

/// Scalar and block formats, one-sided ones, two's complement and tables.
inline std::vector<BlockFormat> formats_of_tiles(bool with_tables) {
  std::vector<BlockFormat> formats;
  for (const char* name : {"bf16", "e4m3", "e5m2", "e2m1", "e3m2", "ue4m3", "e8m0", "int8", "fp32",
                           "fp8_tensor", "nvfp4", "mxfp4", "mxfp8_e5m2", "mxint8", "p3109{k=6,p=3,unsigned}"})
    formats.push_back(parse_format(name));
  if (!with_tables) return formats;
  formats.push_back(unscaled(table_format({-4, -1, 0, 1, 2, 4}, "skewed")));
  formats.push_back(unscaled(table_format({-1, -0.7, -0.1, 0, 0.2, 0.3, 1}, "decimal")));
  formats.push_back(unscaled(lns_format(8, 8)));
  return formats;
}

}  // namespace halfulp::test
