"""The weights of a language model as its peers take them: drawn once, written by transformers, and
made files of llama.cpp (GGUF) and of CTranslate2 of these."""
import json
import pathlib

import numpy
import torch
import transformers
from safetensors.torch import load_file

from ours import run_quietly, save_safetensors

# A llama of 134 million parameters.
LLAMA = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536,
         "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
         "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "tie_word_embeddings": True}
TINY = LLAMA | {"vocab_size": 512, "hidden_size": 64, "intermediate_size": 96,
                "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}


def write_tokenizer(folder, words):
    """A word for each token, which CTranslate2 asks for: "0", "1", …"""
    import tokenizers
    model = tokenizers.models.WordLevel({str(i): i for i in range(words)}, unk_token="0")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(model), unk_token="0", bos_token="1", eos_token="2")
    fast.save_pretrained(folder)


def write_checkpoint(folder, sizes):
    """Draws the weights unless the folder has them: what each layer adds is small beside what it
    adds to, so that logits of rounded weights stay near those of the weights."""
    if (folder / "model.safetensors").exists():
        return
    torch.manual_seed(1)
    module = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        **sizes, bos_token_id=1, eos_token_id=2))
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim == 2:
                adds = "o_proj" in name or "down_proj" in name
                scale = (2 * sizes["num_hidden_layers"]) ** -0.5 if adds else 1
                depth = 1 if "embed" in name else parameter.shape[1]
                parameter.normal_(0, scale * depth ** -0.5)
    module.save_pretrained(folder)
    write_tokenizer(folder, sizes["vocab_size"])


def in_pairs(weight, heads):
    """Rows of queries or keys as llama.cpp turns them: neighbours, not halves."""
    rows, width = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, width).swapaxes(1, 2).reshape(rows, width)


GGUF_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
              "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
              "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
              "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{GGUF_NAMES[rest.removesuffix('.weight')]}.weight"


def write_gguf(path, folder):
    """The checkpoint as float32, without a vocabulary."""
    import gguf
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config.get("rope_theta") or config["rope_parameters"]["rope_theta"])
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    for name, tensor in load_file(folder / "model.safetensors").items():
        tensor = tensor.numpy()
        for part, heads in (("q_proj", "num_attention_heads"), ("k_proj", "num_key_value_heads")):
            if part in name:
                tensor = in_pairs(tensor, config[heads])
        writer.add_tensor(gguf_name(name), numpy.ascontiguousarray(tensor, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_file(folder, kind):
    """The file of a type, as `Q4_0`, made by llama.cpp's own quantize; all matrices are of it."""
    import llama_cpp
    whole, path = folder / "F32.gguf", folder / f"{kind}.gguf"
    if not whole.exists():
        write_gguf(whole, folder)
    if not path.exists():
        params = llama_cpp.llama_model_quantize_default_params()
        params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{kind}")
        params.pure = True
        status = llama_cpp.llama_model_quantize(str(whole).encode(), str(path).encode(), params)
        if status:
            raise RuntimeError(f"llama.cpp cannot make {kind} of {whole}")
    return path


def ctranslate2_folder(folder, kind):
    """The model of a type, as `int8`, which CTranslate2's converter writes."""
    import ctranslate2
    target = folder / f"ctranslate2_{kind}"
    if not target.exists():
        ctranslate2.converters.TransformersConverter(str(folder)).convert(
            str(target), quantization=kind)
    return target



def is_newer(file, other):
    return file.exists() and file.stat().st_mtime > pathlib.Path(other).stat().st_mtime


def fovea_program(fovea, folder, weights, settings):
    """The program for a kind of weights, and the file that it takes them from; what is newer than
    the fovea command is kept."""
    program, path = folder / f"llm_{weights}", folder / f"fovea_{weights}.safetensors"
    if is_newer(program, fovea) and ("weights" not in settings or is_newer(path, program)):
        return program, path if "weights" in settings else folder
    run_quietly([fovea, "build", "llama", "--checkpoint", folder, "--isa", "native", "-o", program,
                 *[f"--set={name}={value}" for name, value in settings.items()]])
    if "weights" not in settings:
        return program, folder
    run_quietly([program, "quantize", "--weights", folder, "-o", path])
    return program, path


def fovea_logits(program, weights, ids, folder):
    """[tokens, vocabulary] of a text."""
    tokens = torch.tensor([ids]).int()
    save_safetensors(folder / "text.safetensors", {
        "ids": tokens, "labels": tokens, "lens": torch.tensor([len(ids)]).int()})
    run_quietly([program, "run", "--weights", weights, "--inputs", folder / "text.safetensors",
                 "--outputs", folder / "logits.safetensors"])
    return load_file(folder / "logits.safetensors")["logits"][0].float()
