"""What goes on with a text: fovea's program, and its peers, which have the same three calls:
`prefill()` reads the prompt, `decode(n)` chooses n tokens behind it, `logits(tokens)` are those
behind the prompt and behind each of these tokens, which follow it."""
import ctypes
import os
import re
import signal
import subprocess
import time

import numpy
import torch

import language_files as files


BEGUN = re.compile(rb"(?<=[,\n])\d")  # a number behind a mark


class Ours:
    """`generate` of a built program, over and over: each token is printed when it is there, and the
    process is stopped between turns."""

    def __init__(self, program, weights, ids, tokens, threads):
        self.tokens = tokens
        text = ",".join(map(str, ids))
        self.texts = min(2000, 1_500_000 // (len(text) + 20))  # as much as a command line takes
        self.command = [
            program, "generate", "--weights", weights, *["--ids", text] * self.texts,
            "--ignore-eos", "--max-tokens", str(tokens), "--batch", "1", "--threads", str(threads)]
        self.begin()

    def begin(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        self.seen, self.last = 0, b"\n"
        self.read_until(self.tokens)
        self.process.send_signal(signal.SIGSTOP)

    @property
    def pid(self):
        return self.process.pid

    def read_until(self, count):
        """Waits for so many tokens in all; when they were there."""
        while self.seen < count:
            some = os.read(self.process.stdout.fileno(), 1 << 16)
            if not some:
                raise RuntimeError(f"fovea's program ended, status {self.process.wait()}")
            # A line ends with its text, before the prompt of the next one is read.
            self.seen += len(BEGUN.findall(self.last + some))
            self.last = some[-1:]
        return time.perf_counter()

    def drain(self):
        """Reads what was printed before the process stopped."""
        os.set_blocking(self.process.stdout.fileno(), False)
        try:
            self.read_until(1 << 60)
        except BlockingIOError:
            os.set_blocking(self.process.stdout.fileno(), True)

    def turn(self, runs, is_decode):
        """Milliseconds of a token, or of the prompt: of the texts behind the one it is at."""
        self.drain()
        if self.seen // self.tokens + 1 + runs > self.texts:
            self.close()
            self.begin()
        times, end = [], (self.seen // self.tokens + 1) * self.tokens
        self.process.send_signal(signal.SIGCONT)
        before = self.read_until(end)
        for _ in range(runs):
            first = self.read_until(end + 1)
            end += self.tokens
            last = self.read_until(end)
            times.append(1000 * ((last - first) / (self.tokens - 1) if is_decode
                                 else first - before))
            before = last
        self.process.send_signal(signal.SIGSTOP)
        return times

    def close(self):
        self.process.kill()
        self.process.wait()


class LlamaCpp:
    """By llama.cpp, of a type of file."""

    def __init__(self, folder, kind, ids, room, threads, flash, at_once):
        import llama_cpp
        self.api, self.ids = llama_cpp, numpy.array(ids, numpy.int32)
        llama_cpp.llama_log_set(quiet(), ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            str(files.gguf_file(folder, kind)).encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = room, len(ids), min(at_once, len(ids))
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = int(flash)
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.words = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def __del__(self):
        if getattr(self, "context", None):
            self.api.llama_free(self.context)
            self.api.llama_model_free(self.model)

    def read(self, tokens):
        pointer = tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
        batch = self.api.llama_batch_get_one(pointer, len(tokens))
        if self.api.llama_decode(self.context, batch):
            raise RuntimeError("llama.cpp does not decode")
        at = self.api.llama_get_logits_ith(self.context, -1)
        return numpy.ctypeslib.as_array(at, (self.words,))

    def prefill(self):
        self.api.llama_memory_clear(self.memory, False)
        return self.read(self.ids)

    def decode(self, count):
        """The first is that behind the last token of the prompt, read again."""
        self.api.llama_memory_seq_rm(self.memory, 0, len(self.ids), -1)
        token = self.ids[-1:]
        for _ in range(count):
            token = numpy.array([self.read(token).argmax()], numpy.int32)
        return token

    def logits(self, tokens):
        found = [self.prefill().copy()]
        for token in tokens:
            found.append(self.read(numpy.array([token], numpy.int32)).copy())
        return torch.from_numpy(numpy.stack(found))


def quiet():
    """A callback for what llama.cpp says, kept as long as this module."""
    import llama_cpp
    if not hasattr(quiet, "callback"):
        quiet.callback = llama_cpp.llama_log_callback(lambda level, text, data: None)
    return quiet.callback


class Transformers:
    """By transformers, eager or compiled with a cache of a fixed size."""

    def __init__(self, folder, dtype, ids, room, compiled):
        import transformers
        transformers.utils.logging.set_verbosity_error()
        self.module = transformers.LlamaForCausalLM.from_pretrained(
            folder, dtype=dtype, attn_implementation="sdpa").eval()
        self.ids, self.compiled = torch.tensor([ids]), compiled
        self.run = torch.compile(self.module, dynamic=False) if compiled else self.module
        cache = transformers.StaticCache if compiled else transformers.DynamicCache
        self.new_cache = lambda: (cache(config=self.module.config, max_cache_len=room) if compiled
                                  else cache(config=self.module.config))
        self.cache = self.new_cache()

    def read(self, ids, position):
        with torch.no_grad():
            places = torch.arange(position, position + ids.shape[1])
            return self.run(input_ids=ids, past_key_values=self.cache, use_cache=True,
                            position_ids=places[None], logits_to_keep=1).logits[0, -1]

    def prefill(self):
        if self.compiled:
            self.cache.reset()
        else:
            self.cache = self.new_cache()
        return self.read(self.ids, 0)

    def decode(self, count):
        length = self.ids.shape[1]
        self.crop(length)
        token = self.ids[:, -1:]
        for i in range(count):
            token = self.read(token, length + i).argmax().reshape(1, 1)
        return token

    def crop(self, length):
        if not self.compiled:
            self.cache.crop(length - self.cache.get_seq_length())
            return
        for layer in self.cache.layers:  # what lies behind is masked
            if torch.is_tensor(getattr(layer, "cumulative_length", None)):
                layer.cumulative_length.fill_(length)

    def logits(self, tokens):
        found = [self.prefill().float().clone()]
        for i, token in enumerate(tokens):
            found.append(self.read(torch.tensor([[token]]), self.ids.shape[1] + i).float().clone())
        return torch.stack(found)


class CTranslate2:
    """By CTranslate2, which keeps the state behind a prompt."""

    def __init__(self, folder, kind, ids, threads):
        import ctranslate2
        self.generator = ctranslate2.Generator(
            str(files.ctranslate2_folder(folder, kind)), compute_type=kind,
            inter_threads=1, intra_threads=threads)
        self.words, self.ids, self.storage = [str(i) for i in ids], ids, ctranslate2.StorageView
        self.decode(1)

    def generate(self, begin, behind, count):
        return self.generator.generate_batch(
            [behind], static_prompt=begin, cache_static_prompt=True, max_length=count,
            min_length=count, include_prompt_in_result=False, end_token=[])

    def prefill(self):
        self.generate(None, self.words, 1)

    def decode(self, count):
        self.generate(self.words[:-1], self.words[-1:], count)

    def logits(self, tokens):
        words = self.words + [str(token) for token in tokens]
        view = self.generator.forward_batch([words])
        return torch.from_numpy(numpy.array(view)[0, len(self.ids) - 1:])
