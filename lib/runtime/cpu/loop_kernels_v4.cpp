// The inner loops compiled for x86-64-v4 (flags in CMakeLists.txt). Entry: loop_kernels_v4.
#define GE_LOOP_ISA v4
#include "runtime/cpu/loop_kernels_body.h"
