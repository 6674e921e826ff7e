// A plan as JSON for other tools, and the JSON Schema of that form. Entry: plan_json, plan_schema.
// Both come from the field visitor; a test holds schemas/plan.schema.json equal to plan_schema().
#pragma once
#include <string>

#include "contract/plan_read.h"

namespace ge {

// Sections and every record; expressions as numbers or text ("batch*16").
std::string plan_json(const PlanFile& file);
std::string plan_schema();

}  // namespace ge
