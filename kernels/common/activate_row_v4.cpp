// Activations of a run of floats for AVX-512. Entry: kActivateRowV4.
#define GE_ACTIVATE_ROW kActivateRowV4
#include "kernels/common/activate_row.inc"
