// A plan as text for people. Entry: print_plan. diff_plans compares two by source node.
// Both take plans that passed verify_structure. Figures are those at the plan's `opt` dims.
#pragma once
#include <string>

#include "contract/plan_read.h"

namespace ge {

std::string print_plan(const PlanFile& file);

struct PlanDiff {
  bool same = true;
  std::string text;  // "" where they are the same
};
// Names stand for the plans in the text.
PlanDiff diff_plans(const PlanFile& a, const std::string& name_a, const PlanFile& b,
                    const std::string& name_b);

}  // namespace ge
