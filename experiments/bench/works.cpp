#include "experiments/bench/works.h"

#include <algorithm>
#include <iterator>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

std::string names_of(const std::vector<Work>& works) {
  std::vector<std::string> names;
  for (const Work& work : works) names.push_back(work.name);
  return name_list(names);
}

}  // namespace

std::vector<Work> all_works() {
  std::vector<Work> all = reference_works();
  for (auto* more : {peer_works, cuda_header_works, conversion_works, access_works, step_works})
    for (Work& work : more()) all.push_back(std::move(work));
  return all;
}

std::vector<Work> works_with(const std::vector<Work>& works, const std::string& part) {
  std::vector<Work> found;
  std::copy_if(works.begin(), works.end(), std::back_inserter(found),
               [&](const Work& work) { return work.name.find(part) != std::string::npos; });
  if (found.empty())
    throw Error("--only", "no row has that in its name", part, "a part of " + names_of(works));
  return found;
}

const Work* find_work(const std::vector<Work>& works, const std::string& name) {
  if (name.empty()) return nullptr;
  for (const Work& work : works)
    if (work.name == name) return &work;
  throw Error("reference", "no such row", name, names_of(works));
}

}  // namespace halfulp
