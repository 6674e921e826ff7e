// Activations of a run of floats for AVX2. Entry: kActivateRowV3.
#define GE_ACTIVATE_ROW kActivateRowV3
#include "kernels/common/activate_row.inc"
