"""The Transformer's weights as a CTranslate2 model: float32, its encoder alone or whole."""
import pathlib
import tempfile

import ctranslate2
import numpy
import torch
from ctranslate2.specs import transformer_spec


def array(tensor):
    return tensor.detach().contiguous().numpy()


def set_linear(spec, *layers):
    """One linear layer, or several whose outputs stand one after another."""
    spec.weight = numpy.concatenate([array(layer.weight) for layer in layers])
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if biases:
        spec.bias = numpy.concatenate([array(bias) for bias in biases])


def set_norm(spec, norm):
    spec.gamma, spec.beta = array(norm.weight), array(norm.bias)


def set_self_attention(spec, attention, norm):
    set_linear(spec.linear[0], attention.W_q, attention.W_k, attention.W_v)
    set_linear(spec.linear[1], attention.W_o)
    set_norm(spec.layer_norm, norm)


def set_ffn(spec, ffn, norm):
    set_linear(spec.linear_0, ffn.dense1)
    set_linear(spec.linear_1, ffn.dense2)
    set_norm(spec.layer_norm, norm)


def set_encoder(spec, encoder):
    spec.embeddings[0].weight = array(encoder.embedding.weight)
    spec.position_encodings.encodings = array(encoder.positions)
    for layer, block in zip(spec.layer, encoder.blks):
        set_self_attention(layer.self_attention, block.attention, block.addnorm1.ln)
        set_ffn(layer.ffn, block.ffn, block.addnorm2.ln)


def set_decoder(spec, decoder):
    spec.embeddings.weight = array(decoder.embedding.weight)
    spec.position_encodings.encodings = array(decoder.positions)
    set_linear(spec.projection, decoder.dense)
    for layer, block in zip(spec.layer, decoder.blks):
        set_self_attention(layer.self_attention, block.attention1, block.addnorm1.ln)
        cross = block.attention2
        set_linear(layer.attention.linear[0], cross.W_q)
        set_linear(layer.attention.linear[1], cross.W_k, cross.W_v)
        set_linear(layer.attention.linear[2], cross.W_o)
        set_norm(layer.attention.layer_norm, block.addnorm2.ln)
        set_ffn(layer.ffn, block.ffn, block.addnorm3.ln)


def words(count):
    return ["<unk>", "<pad>", "<bos>", "<eos>"] + [f"w{i}" for i in range(4, count)]


def save(spec, folder):
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def encoder_peer(model, heads, ids, threads):
    """Runs the encoder over ids [batch, length]."""
    encoder = transformer_spec.TransformerEncoderSpec(len(model.encoder.blks), heads,
                                                      pre_norm=False)
    set_encoder(encoder, model.encoder)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    spec.register_vocabulary(words(model.encoder.embedding.num_embeddings))
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = "<unk>", "<bos>", "<eos>"
    with tempfile.TemporaryDirectory() as name:
        save(spec, pathlib.Path(name))
        loaded = ctranslate2.Encoder(name, "cpu", compute_type="float32", intra_threads=threads)
    ids = ids.int().contiguous()
    lengths = torch.full((ids.shape[0],), ids.shape[1], dtype=torch.int32)

    def run():
        output = loaded.forward_batch(ctranslate2.StorageView.from_array(ids.numpy()),
                                      ctranslate2.StorageView.from_array(lengths.numpy()))
        return torch.from_numpy(numpy.array(output.last_hidden_state))
    return run


def greedy_peer(model, heads, source, steps, never, threads):
    """Greedy decoding of the source's ids; `never`: a word that is not among the results, which
    takes the end's place, so that all steps run."""
    spec = transformer_spec.TransformerSpec.from_config(len(model.encoder.blks), heads,
                                                        pre_norm=False)
    set_encoder(spec.encoder, model.encoder)
    set_decoder(spec.decoder, model.decoder)
    target = words(model.decoder.embedding.num_embeddings)
    sources = words(model.encoder.embedding.num_embeddings)
    spec.register_source_vocabulary(sources)
    spec.register_target_vocabulary(target)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = "<unk>", "<bos>", "<eos>"
    spec.config.decoder_start_token = "<bos>"
    with tempfile.TemporaryDirectory() as name:
        save(spec, pathlib.Path(name))
        loaded = ctranslate2.Translator(name, "cpu", compute_type="float32",
                                        intra_threads=threads)
    numbers = {word: i for i, word in enumerate(target)}
    sentence = [[sources[i] for i in source]]

    def run():
        result = loaded.translate_batch(sentence, beam_size=1, min_decoding_length=steps,
                                        max_decoding_length=steps, end_token=target[never])
        return [numbers[word] for word in result[0].hypotheses[0]]
    return run
