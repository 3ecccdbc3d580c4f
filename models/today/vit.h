// ViT (Dosovitskiy et al. 2020): an encoder of the patches of an image. Names are those of
// transformers' ViTForImageClassification.
#pragma once

#include "models/today/heads.h"

namespace fovea::models {

struct ViTSettings {
    Dim hidden_size = {"hidden", 768}, intermediate_size = {"ffn", 3072};
    Dim num_labels = {"classes", 1000};
    Dim image_size = 224, num_channels = 3, num_attention_heads = 12;
    int patch_size = 16, num_hidden_layers = 12;
    double layer_norm_eps = 1e-12;
    double hidden_dropout_prob = 0, attention_probs_dropout_prob = 0;
    bool qkv_bias = true;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("hidden_size", hidden_size);
        visit("intermediate_size", intermediate_size);
        visit("num_labels", num_labels);
        visit("image_size", image_size);
        visit("num_channels", num_channels);
        visit("num_attention_heads", num_attention_heads);
        visit("patch_size", patch_size);
        visit("num_hidden_layers", num_hidden_layers);
        visit("layer_norm_eps", layer_norm_eps);
        visit("hidden_dropout_prob", hidden_dropout_prob, in_training);
        visit("attention_probs_dropout_prob", attention_probs_dropout_prob, in_training);
        visit("qkv_bias", qkv_bias);
    }
};

/// pixels [batch, channels, height, width] → [batch, 1 + patches, hidden]: what stands for the
/// whole image, then its patches row by row, each at its position.
constexpr Tensor vit_embeddings(Scope s, const ViTSettings& c, Tensor pixels) {
    Tensor first = s.parameter("cls_token", {1, 1, c.hidden_size}, Initial::normal);
    Tensor patches = conv2d(s / "patch_embeddings" / "projection", pixels, c.hidden_size,
                            c.patch_size, {.stride = c.patch_size});
    Tensor x = rearrange(patches, "b d h w -> b (h w) d");
    x = concat(broadcast(first, {"batch", 1, c.hidden_size}), x, 1);
    Tensor positions =
        s.parameter("position_embeddings", {1, x.dim(1), c.hidden_size}, Initial::normal);
    return dropout(x + positions, c.hidden_dropout_prob);
}

/// Inputs `pixels` [batch, channels, image_size, image_size], `labels` [batch]; outputs `logits`
/// [batch, num_labels], `loss` [batch], each image's cross entropy.
constexpr void vit(Scope root, const ViTSettings& c) {
    Tensor pixels = root.input("pixels", {"batch", c.num_channels, c.image_size, c.image_size});
    Tensor labels = root.input("labels", {"batch"}, i32);
    Scope s = root / "vit";
    Tensor x = vit_embeddings(s / "embeddings", c, pixels);
    const EncoderHeads heads = {.count = c.num_attention_heads,
                                .hidden = c.hidden_size,
                                .dropout = c.attention_probs_dropout_prob,
                                .bias = c.qkv_bias};
    const auto drop = [&](Tensor y) { return dropout(y, c.hidden_dropout_prob); };
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        Scope layer = s / "layers" / i, own = layer / "attention", ffn = layer / "mlp";
        Tensor y = layer_norm(layer / "layernorm_before", x, 1, c.layer_norm_eps);
        y = encoder_attention(own, {"q_proj", "k_proj", "v_proj"}, heads, y);
        x = x + drop(linear(own / "o_proj", y, c.hidden_size));
        y = layer_norm(layer / "layernorm_after", x, 1, c.layer_norm_eps);
        y = gelu(linear(ffn / "fc1", y, c.intermediate_size));
        x = x + drop(linear(ffn / "fc2", y, c.hidden_size));
    }
    x = layer_norm(s / "layernorm", x, 1, c.layer_norm_eps);
    Tensor first = squeeze(slice(x, 1, 0, 1), 1);
    Tensor logits = linear(root / "classifier", first, c.num_labels);
    root.output("logits", logits);
    root.output("loss", cross_entropy(logits, labels, {.mean = false}));
}

}  // namespace fovea::models
