// The inner loops compiled for the compiler's default instruction set. Entry: loop_kernels_base.
#define GE_LOOP_ISA base
#include "runtime/cpu/loop_kernels_body.h"
