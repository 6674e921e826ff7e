// The inner loops compiled for x86-64-v3 (flags in CMakeLists.txt). Entry: loop_kernels_v3.
#define GE_LOOP_ISA v3
#include "runtime/cpu/loop_kernels_body.h"
