#include "codegen/lower/optimizer_kernels.h"

#include "codegen/kernel/builder.h"

namespace fovea::lower {

using kernel::Access, kernel::AxisId, kernel::Builder, kernel::Id, kernel::Kernel;
using E = Elementwise;

namespace {

constexpr Dim kSize = Dim(kChunk) * Dim(kChunks);

/// One of a few numbers.
Id number(Builder& b, int buffer, int place) {
    Access access = b.at(buffer, {-1});
    access.offset = place;
    return b.load(access);
}
Id factor(Builder& b, int factors, Factor which) { return number(b, factors, int(which)); }

int factors_of(Builder& b) { return b.input("factors", {int(Factor::count)}); }

Kernel square_sums() {
    Builder b("gradient_squares", "squares = sums of gradients^2 over chunks of them");
    const AxisId chunk = b.axis("chunk", kChunks), i = b.axis("i", kChunk);
    const int gradients = b.input("gradients", {kChunks, kChunk});
    const int squares = b.output("squares", {kChunks});
    b.each(chunk, [&] {
        const Id gradient = b.load(b.at(gradients, {chunk, i}));
        b.store(b.at(squares, {chunk}), b.sum(b.mul(gradient, gradient), {i}));
    });
    return b.finish();
}

/// 1 where |x| is a finite number, else 0.
Id is_finite(Builder& b, Id x) {
    const Id size = b.map(E::maximum, {x, b.map(E::neg, {x})});
    return b.le(size, b.constant(3.4028234663852886e38));
}

Kernel infinite_losses() {
    Builder b("infinite_losses", "infinite = how many of the losses are no finite numbers");
    constexpr Dim count = kLosses;
    const AxisId i = b.axis("i", count);
    const int losses = b.input("losses", {count}), infinite = b.output("infinite", {1});
    const Id finite = is_finite(b, b.load(b.at(losses, {i})));
    const Id zero = b.constant(0), one = b.constant(1);
    b.store(b.at(infinite, {-1}), b.sum(b.where(finite, zero, one), {i}));
    return b.finish();
}

Kernel gradient_norm() {
    Builder b("gradient_norm", "norm = sqrt(sum squares) * scale; moves = all is finite");
    const AxisId chunk = b.axis("chunk", kChunks);
    const int squares = b.input("squares", {kChunks}), infinite = b.input("infinite", {1});
    const int factors = factors_of(b), outcome = b.output("outcome", {int(Outcome::count)});
    const Id one = b.constant(1), none = b.constant(0);
    const Id scale = factor(b, factors, Factor::gradient_scale);
    const Id clip = factor(b, factors, Factor::clip);
    const Id root = b.map(E::sqrt, {b.sum(b.load(b.at(squares, {chunk})), {chunk})});
    const Id norm = b.named(b.mul(root, scale), "norm");
    const Id finite_norm = is_finite(b, norm);
    const Id losses = number(b, infinite, 0), half = b.constant(0.5);
    const Id finite = b.map(E::logical_and, {finite_norm, b.lt(losses, half)});
    const Id clips = b.map(E::logical_and, {b.lt(none, clip), b.lt(clip, norm)});
    const auto store = [&](Outcome which, Id value) {
        Access access = b.at(outcome, {-1});
        access.offset = int(which);
        b.store(access, value);
    };
    store(Outcome::norm, norm);
    store(Outcome::moves, b.where(finite, one, none));
    store(Outcome::scale, b.where(clips, b.mul(scale, b.div(clip, norm)), scale));
    return b.finish();
}

enum class Kind { adam, adamw, sgd };

/// Values and state are read and written in place, element by element.
class Update {
  public:
    Update(Kind kind, const char* name, const char* formula)
        : kind_(kind), b_(name, formula), i_(b_.axis("i", kSize)) {}

    Kernel run() {
        const int values = b_.output("values", {kSize}), first = b_.output("first", {kSize});
        const int second = kind_ == Kind::sgd ? -1 : b_.output("second", {kSize});
        const int gradients = b_.input("gradients", {kSize});
        factors_ = factors_of(b_);
        const int outcome = b_.input("outcome", {int(Outcome::count)});
        b_.each(i_, [&] {
            const Id half = b_.constant(0.5);
            moves_ = b_.lt(half, number(b_, outcome, int(Outcome::moves)));
            const Id value = at(values), scale = number(b_, outcome, int(Outcome::scale));
            Id gradient = b_.mul(at(gradients), scale);
            if (kind_ != Kind::adamw)
                gradient = b_.add(gradient, b_.mul(factor(Factor::decay), value));
            if (kind_ == Kind::sgd) move_by_velocity(values, first, value, gradient);
            else move_by_moments(values, first, second, value, b_.named(gradient, "gradient"));
        });
        return b_.finish();
    }

  private:
    Id at(int buffer) { return b_.load(b_.at(buffer, {i_})); }
    Id factor(Factor which) { return lower::factor(b_, factors_, which); }
    /// `next` where the step moves, else what it was.
    void store(int buffer, Id old, Id next) {
        b_.store(b_.at(buffer, {i_}), b_.where(moves_, next, old));
    }
    void move_by_velocity(int values, int first, Id value, Id gradient) {
        const Id old = at(first);
        const Id velocity =
            b_.named(b_.add(b_.mul(factor(Factor::momentum), old), gradient), "velocity");
        const Id next = b_.sub(value, b_.mul(factor(Factor::step_size), velocity));
        store(first, old, velocity);
        store(values, value, next);
    }
    void move_by_moments(int values, int first, int second, Id value, Id gradient) {
        const Id old_m = at(first), old_v = at(second);
        const Id kept_m = b_.mul(factor(Factor::beta1), old_m);
        const Id new_m = b_.mul(factor(Factor::one_minus_beta1), gradient);
        const Id m = b_.named(b_.add(kept_m, new_m), "m");
        const Id kept_v = b_.mul(factor(Factor::beta2), old_v);
        const Id squared = b_.mul(gradient, gradient);
        const Id new_v = b_.mul(factor(Factor::one_minus_beta2), squared);
        const Id v = b_.named(b_.add(kept_v, new_v), "v");
        Id root = b_.map(E::sqrt, {v});
        root = b_.mul(root, factor(Factor::inverse_root));
        root = b_.add(root, factor(Factor::epsilon));
        const Id change = b_.div(b_.mul(factor(Factor::step_size), m), root);
        const Id kept = kind_ == Kind::adamw ? b_.mul(factor(Factor::keep), value) : value;
        const Id next = b_.sub(kept, change);
        store(first, old_m, m);
        store(second, old_v, v);
        store(values, value, next);
    }

    Kind kind_;
    Builder b_;
    AxisId i_;
    int factors_ = -1;
    Id moves_ = -1;
};

Kernel sum_kernel(bool adds) {
    Builder b(adds ? "add_to_gradient_sum" : "set_gradient_sum",
              adds ? "sum += scale * gradients" : "sum = scale * gradients");
    const AxisId i = b.axis("i", kSize);
    const int gradients = b.input("gradients", {kSize}), factors = factors_of(b);
    const int sum = b.output("sum", {kSize});
    b.each(i, [&] {
        const Id gradient = b.load(b.at(gradients, {i}));
        const Id scaled = b.mul(gradient, factor(b, factors, Factor::gradient_scale));
        b.store(b.at(sum, {i}), adds ? b.add(b.load(b.at(sum, {i})), scaled) : scaled);
    });
    return b.finish();
}

OptimizerProgram update(Kind kind, const std::string& name, const char* formula) {
    return {"update_" + name,
            {square_sums(), infinite_losses(), gradient_norm(),
             Update(kind, (name + "_step").c_str(), formula).run()}};
}

}  // namespace

std::vector<OptimizerProgram> optimizer_programs() {
    return {update(Kind::adam, "adam", "values -= step_size * m / (sqrt(v) * c + epsilon)"),
            update(Kind::adamw, "adamw",
                   "values = keep * values - step_size * m / (sqrt(v) * c + epsilon)"),
            update(Kind::sgd, "sgd", "values -= step_size * velocity"),
            {"set_sum", {sum_kernel(false)}},
            {"add_to_sum", {sum_kernel(true)}}};
}

}  // namespace fovea::lower
