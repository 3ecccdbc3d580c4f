// The runner of a bundle where a GPU is: it needs the driver and the C library.
#include "runtime/device/cuda_device.h"
#include "tools/bundle/runner.h"

int main(int argc, char** argv) {
    return fovea::bundle::runner_main(argc, argv,
                                      [] { return fovea::runtime::device::open_cuda(); });
}
