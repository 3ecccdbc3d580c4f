// A network for small images, as LeNet (LeCun et al. 1998): convolutions and pools. A convolution
// is a product over windows of its input, which are read where they lie.
#include <fovea.h>
using namespace fovea;

struct ImageSettings {
    Dim size = 12, classes = {"classes", 10};
    int kernel = 3;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("size", size);
        visit("classes", classes);
        visit("kernel", kernel);
    }
};

constexpr void images(Scope s, const ImageSettings& c) {
    Tensor x = s.input("pixels", {"batch", 1, c.size, c.size});
    Tensor labels = s.input("labels", {"batch"}, i32);
    x = relu(conv2d(s / "conv1", x, 6, c.kernel, {.padding = c.kernel / 2}));
    x = max_pool2d(x, 2);
    x = relu(conv2d(s / "conv2", x, 8, c.kernel));
    x = avg_pool2d(x, 2);
    Tensor logits = linear(s / "fc", flatten(x, 1), c.classes);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, labels, {.mean = false}));
}

static_assert(well_formed<[](Scope s) { images(s, {}); }>);
