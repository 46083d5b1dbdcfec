#include "experiments/measurements.h"

namespace halfulp {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::ordered_json stagnation_to_json(const Stagnation& s) {
  nlohmann::ordered_json causes;
  for (std::size_t cause = 0; cause < s.by_cause.size(); ++cause)
    causes[std::string(stagnation_cause_names[cause])] = s.by_cause[cause];
  return {{"share", s.share()},
          {"updated", s.updated},
          {"stayed", s.stayed},
          {"share_outward", share(s.stayed_outward, s.updated_outward)},
          {"share_inward", share(s.stayed - s.stayed_outward, s.updated - s.updated_outward)},
          {"by_cause", causes}};
}

template <int lowest, int highest>
nlohmann::ordered_json octaves_to_json(const OctaveCounts<lowest, highest>& octaves) {
  return {{"lowest_exponent", lowest}, {"counts", octaves.counts}, {"zeros", octaves.zeros}};
}

nlohmann::ordered_json states_to_json(const StatesCounters& states) {
  nlohmann::ordered_json json = nlohmann::json::object();
  for (const StateCounters& state : states.slots) {
    const StateFreezing& f = state.freezing;
    json[std::string(state.slot.name)] = {{"frozen_share", f.share()},
                                          {"wanted", f.wanted},
                                          {"frozen", f.frozen},
                                          {"frozen_growing_share", share(f.frozen_growing, f.growing)},
                                          {"frozen_decaying_share", share(f.frozen_decaying, f.decaying)},
                                          {"underflowed", f.underflowed},
                                          {"saturated", f.saturated}};
  }
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const CounterProbe& probe) {
  const StepCounters& c = probe.stored;
  const SignFlips& flips = probe.weight().sign_flips;
  const Trapping& t = c.trapping;
  const Collateral& k = c.collateral;
  return {{"nonfinite", c.nonfinite},
          {"stagnation", stagnation_to_json(c.stagnation)},
          {"delivery",
           {{"ratio", c.delivery.ratio()},
            {"cosine", c.delivery.cosine()},
            {"lost_ratio", c.delivery.lost_ratio()}}},
          {"trapping",
           {{"elements", t.elements},
            {"near_zero", t.near_zero},
            {"trapped", t.trapped},
            {"trapped_share", share(t.trapped, t.elements)},
            {"trapped_at_zero", t.trapped_at_zero},
            {"trapped_at_zero_share", share(t.trapped_at_zero, t.elements)},
            {"zero_share", share(t.zero_after, t.elements)}}},
          {"sign_flips",
           {{"wanted", flips.wanted},
            {"refused", flips.refused},
            {"refused_share", share(flips.refused, flips.wanted)}}},
          {"collateral",
           {{"carried", k.carried},
            {"carried_share", share(k.carried, k.elements)},
            {"only_by_scale", k.only_by_scale},
            {"against_update", k.against_update},
            {"mass", k.mass}}},
          {"octaves",
           {{"updated", octaves_to_json(c.octaves.updated)},
            {"stayed", octaves_to_json(c.octaves.stayed)},
            {"update_over_half_gap", octaves_to_json(c.octaves.update_over_half_gap)},
            {"relative_update", octaves_to_json(c.update.relative)}}},
          {"scale_runaway",
           {{"growth", c.runaway.growth()},
            {"elements", c.runaway.elements},
            {"grown", c.runaway.grown},
            {"shrunk", c.runaway.shrunk}}},
          {"ceiling_trap",
           {{"pressed", c.ceiling.pressed},
            {"released", c.ceiling.released},
            {"trapped", c.ceiling.trapped},
            {"trapped_share", share(c.ceiling.trapped, t.elements)}}},
          {"exploding_steps",
           {{"exploding", c.exploding.exploding},
            {"share", share(c.exploding.exploding, c.exploding.compared)},
            {"second_moment_lost", c.exploding.second_moment_lost}}},
          {"weight_decay",
           {{"elements", c.decay.elements},
            {"lost_share", c.decay.lost_share()},
            {"delivered_ratio", c.decay.ratio()}}},
          {"update", {{"mean", c.update.mean()}, {"variance", c.update.variance()}, {"largest", c.update.largest}}},
          {"range",
           {{"at_end", c.ends.at_end}, {"saturated", c.ends.saturated}, {"underflowed", c.ends.underflowed}}},
          {"scales",
           {{"multipliers", octaves_to_json(c.scales.multipliers)},
            {"raised", c.scales.raised},
            {"lowered", c.scales.lowered}}},
          {"states", states_to_json(probe.states)}};
}

nlohmann::ordered_json summary_to_json(const CounterProbe& probe) {
  const StepCounters& c = probe.stored;
  nlohmann::ordered_json frozen = nlohmann::json::object();
  for (const StateCounters& state : probe.states.slots)
    frozen[std::string(state.slot.name)] = state.freezing.share();
  return {{"elements", c.trapping.elements},
          {"stagnation", c.stagnation.share()},
          {"delivered", c.delivery.ratio()},
          {"trapped_share", share(c.trapping.trapped, c.trapping.elements)},
          {"zero_share", share(c.trapping.zero_after, c.trapping.elements)},
          {"refused_flips", share(probe.weight().sign_flips.refused, probe.weight().sign_flips.wanted)},
          {"only_by_scale", share(c.collateral.only_by_scale, c.collateral.elements)},
          {"scale_growth", c.runaway.growth()},
          {"ceiling_trapped", share(c.ceiling.trapped, c.trapping.elements)},
          {"exploding", share(c.exploding.exploding, c.exploding.compared)},
          {"decay_lost", c.decay.lost_share()},
          {"frozen_states", frozen}};
}

nlohmann::ordered_json to_json(const DwellProbe& probe, const std::vector<TensorInfo>& tensors) {
  const auto times = [](const DwellTimes& dwells) -> nlohmann::ordered_json {
    return {{"finished", octaves_to_json(dwells.finished)},
            {"unfinished", octaves_to_json(dwells.unfinished())},
            {"escapes", dwells.escapes},
            {"longest", dwells.longest}};
  };
  nlohmann::ordered_json json = nlohmann::json::array();
  for (const auto& [key, memory] : probe.memories())
    json.push_back({{"tensor", tensors[key.first].name},
                    {"weight_slot", key.second},
                    {"near_zero", times(memory.near_zero)},
                    {"at_zero", times(memory.at_zero)},
                    {"zeroings", memory.zeroings},
                    {"rezeroings", memory.rezeroings}});
  return json;
}

nlohmann::ordered_json to_json(const HarmfulStagnationProbe& probe, const std::vector<TensorInfo>& tensors) {
  nlohmann::ordered_json json = nlohmann::json::array();
  for (const auto& [key, memory] : probe.memories()) {
    nlohmann::ordered_json stayed = nlohmann::json::array(), harmful = stayed;
    for (const StagnationWindow& window : memory.windows()) {
      stayed.push_back(share(window.stayed, window.updated));
      harmful.push_back(share(window.harmful, window.updated));
    }
    json.push_back({{"tensor", tensors[key.first].name},
                    {"weight_slot", key.second},
                    {"window", memory.window_length()},
                    {"stayed_share", stayed},
                    {"harmful_share", harmful}});
  }
  return json;
}

nlohmann::ordered_json to_json(const StateTwinGap& gap) {
  return {{"compared", gap.compared},
          {"lost", gap.lost},
          {"spurious", gap.spurious},
          {"wrong_sign", gap.wrong_sign},
          {"off_by_two", gap.off_by_two},
          {"mean_log2_ratio", gap.mean_log2_ratio},
          {"largest_log2_ratio", gap.largest_log2_ratio},
          {"relative_distance", gap.relative_distance}};
}

}  // namespace halfulp
