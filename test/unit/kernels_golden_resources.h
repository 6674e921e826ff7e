// What ptxas says of kernels, as lines "<image> <entry> <registers> <shared> <stack> <spilled>". Entry:
// resources_said, built_in_resources, generated_resources.
#pragma once
#include <string>
#include <vector>

namespace ge::test {

// One line for each entry of a ptxas -v report.
std::vector<std::string> resources_said(const std::string& image, const std::string& report);
// Of the embedded kernels; "" in a build without CUDA.
std::string built_in_resources();
// Of the loops generated for the examples, by their place in the program ("layer.sm_90 3"): names hold a hash
// of the text. "" where NVRTC or the compiler is not there; an error's text where an example does not
// compile.
std::string generated_resources();

}  // namespace ge::test
