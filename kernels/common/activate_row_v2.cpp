// Activations of a run of floats for any machine. Entry: kActivateRowV2.
#define GE_ACTIVATE_ROW kActivateRowV2
#include "kernels/common/activate_row.inc"
