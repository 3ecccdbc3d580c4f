"""Small models of `transformers` with random weights, and what they are given."""
import numpy as np
import torch
import transformers as hf

BATCH, LEN, VOCAB = 2, 9, 61
SMALL = {"vocab_size": VOCAB, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 40}
EAGER = {"attn_implementation": "eager"}


def decoder(config, **more):
    return config(**SMALL, num_key_value_heads=2, max_position_embeddings=64, **more)


MODELS = {
    "llama": (hf.LlamaForCausalLM, decoder(hf.LlamaConfig, rope_parameters={
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 32})),
    "llama, tied": (hf.LlamaForCausalLM, decoder(hf.LlamaConfig, tie_word_embeddings=True)),
    "mistral": (hf.MistralForCausalLM, decoder(hf.MistralConfig, sliding_window=4)),
    "mistral, no window": (hf.MistralForCausalLM, decoder(hf.MistralConfig, sliding_window=None)),
    "qwen2": (hf.Qwen2ForCausalLM, decoder(hf.Qwen2Config, tie_word_embeddings=True)),
    "qwen3": (hf.Qwen3ForCausalLM, decoder(hf.Qwen3Config, head_dim=10)),
    "gemma2": (hf.Gemma2ForCausalLM, decoder(hf.Gemma2Config, head_dim=8, sliding_window=5,
                                             query_pre_attn_scalar=8)),
    "gemma2, no caps": (hf.Gemma2ForCausalLM, decoder(
        hf.Gemma2Config, head_dim=8, final_logit_softcapping=None, attn_logit_softcapping=None)),
    "gemma3": (hf.Gemma3ForCausalLM, decoder(
        hf.Gemma3TextConfig, head_dim=8, sliding_window=5, query_pre_attn_scalar=8,
        layer_types=["sliding_attention", "full_attention"], rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}})),
    "phi3": (hf.Phi3ForCausalLM, decoder(hf.Phi3Config, pad_token_id=0, sliding_window=5,
                                         partial_rotary_factor=0.67)),
    "olmo2": (hf.Olmo2ForCausalLM, decoder(hf.Olmo2Config, pad_token_id=1, eos_token_id=2)),
    "gpt2": (hf.GPT2LMHeadModel, hf.GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=24,
                                               n_layer=2, n_head=3)),
    "bert": (hf.BertModel, hf.BertConfig(**SMALL, max_position_embeddings=32)),
    "vit": (hf.ViTForImageClassification, hf.ViTConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
        image_size=20, patch_size=5, num_labels=2)),
    "t5": (hf.T5ForConditionalGeneration, hf.T5Config(
        vocab_size=VOCAB, d_model=24, d_kv=6, d_ff=40, num_layers=2, num_heads=3,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
}


def random_weights(module):
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            scale = 0.3 if parameter.ndim == 1 else parameter.shape[-1] ** -0.5
            start = 1.0 if parameter.ndim == 1 and name.endswith("weight") else 0.0
            parameter.copy_(start + scale * torch.randn(parameter.shape))
    return module


def inputs_and_outputs(name, module):
    """What the model is given, and what it makes of it: tensors by fovea's names."""
    ids = torch.randint(2, VOCAB, (BATCH, LEN))
    lens = torch.tensor([LEN, LEN - 3])
    mask = (torch.arange(LEN)[None] < lens[:, None]).long()
    if name == "vit":
        pixels = torch.randn(BATCH, 3, 20, 20)
        return {"pixels": pixels, "labels": torch.tensor([0, 1])}, {
            "logits": module(pixels.double()).logits}
    if name == "bert":
        made = module(input_ids=ids, token_type_ids=ids % 2, attention_mask=mask)
        return {"ids": ids, "segments": ids % 2, "lens": lens}, {"pooled": made.pooler_output}
    if name == "t5":
        target = torch.randint(2, VOCAB, (BATCH, 5))
        made = module(input_ids=ids, attention_mask=mask, decoder_input_ids=target, use_cache=False)
        return {"src": ids, "src_lens": lens, "tgt": target, "labels": target,
                "tgt_lens": torch.tensor([5, 4])}, {"logits": made.logits}
    return {"ids": ids, "labels": ids, "lens": lens}, {
        "logits": module(input_ids=ids, use_cache=False).logits}


def arrays(tensors):
    return {name: np.ascontiguousarray(t.detach().numpy().astype("f" if t.is_floating_point() else "i4"))
            for name, t in tensors.items()}
