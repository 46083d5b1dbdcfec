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
            {"update_over_half_gap", octaves_to_json(c.octaves.update_over_half_gap)}}}};
}

}  // namespace halfulp
