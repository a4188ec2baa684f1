"""Answers requests with libhdf5, the one that h5py brings along.

oracle.py REQUESTS prints one line for each line of the file REQUESTS: hexadecimal bytes, a number, or "error".

  decode HEX                      H5Tdecode, then H5Tencode
  build BOUND RECIPE              makes a datatype by the API, H5Tencode; unless BOUND is "-", by way of a file with that lower bound
  equal HEX HEX                   H5Tequal
  convert FROM TO N BYTES BKG     H5Tconvert of N values over a background
  vlen FROM TO N,N,.. BYTES       H5Tconvert of sequences of these lengths, their elements one after the other; elements of the results

Datatypes are messages in hexadecimal. A recipe is a list of words: leaf HEX, compound SIZE N (NAME OFFSET recipe)..,
array RANK DIM.. recipe, enum N recipe (NAME VALUE).., vlen recipe, text PAD CSET, complex recipe. Names are hexadecimal.
"""
import ctypes as ct
import re
import sys

import h5py
import h5py._conv


def load():
    for line in open('/proc/self/maps'):
        if re.search(r'libhdf5-[0-9a-f]+\.so|libhdf5\.so|libhdf5_serial\.so', line):
            return ct.CDLL(line.split()[-1])
    raise SystemExit('libhdf5 is not loaded')


# Its own conversions, without what h5py adds for Python objects.
h5py._conv.unregister_converters()

L = load()
L.H5open()
I, P, S = ct.c_int64, ct.c_void_p, ct.c_size_t
for name, result, *arguments in [
    ('H5Eset_auto2', ct.c_int, I, P, P), ('H5Tdecode2', I, P, S), ('H5Tencode', ct.c_int, I, P, P),
    ('H5Tcreate', I, ct.c_int, S), ('H5Tinsert', ct.c_int, I, ct.c_char_p, S, I),
    ('H5Tarray_create2', I, I, ct.c_uint, P), ('H5Tenum_create', I, I),
    ('H5Tenum_insert', ct.c_int, I, ct.c_char_p, P), ('H5Tvlen_create', I, I), ('H5Tcomplex_create', I, I),
    ('H5Tcopy', I, I), ('H5Tset_size', ct.c_int, I, S), ('H5Tset_strpad', ct.c_int, I, ct.c_int),
    ('H5Tset_cset', ct.c_int, I, ct.c_int), ('H5Tclose', ct.c_int, I), ('H5Tequal', ct.c_int, I, I),
    ('H5Tconvert', ct.c_int, I, I, S, P, P, I), ('H5Tget_size', S, I),
    ('H5Tcommit2', ct.c_int, I, ct.c_char_p, I, I, I, I), ('H5Topen2', I, I, ct.c_char_p, I),
    ('H5Ldelete', ct.c_int, I, ct.c_char_p, I),
]:
    function = getattr(L, name)
    function.restype, function.argtypes = result, arguments
L.H5Eset_auto2(0, None, None)

BOUNDS = ['earliest', 'v108', 'v110', 'v112', 'v114', 'v200']
FILES = {}


class Failed(Exception):
    pass


def ok(result):
    if result < 0:
        raise Failed
    return result


def decode(text):
    message = b'\x03\x00' + bytes.fromhex(text)
    return ok(L.H5Tdecode2(message, len(message)))


def encode(datatype):
    size = S(0)
    ok(L.H5Tencode(datatype, None, ct.byref(size)))
    buffer = ct.create_string_buffer(size.value)
    ok(L.H5Tencode(datatype, buffer, ct.byref(size)))
    return buffer.raw[2:size.value].hex()


def build(words):
    word = next(words)
    if word == 'leaf':
        return decode(next(words))
    if word == 'compound':
        made = ok(L.H5Tcreate(6, int(next(words))))
        for _ in range(int(next(words))):
            name, offset = bytes.fromhex(next(words)), int(next(words))
            ok(L.H5Tinsert(made, name, offset, build(words)))
        return made
    if word == 'array':
        dims = [int(next(words)) for _ in range(int(next(words)))]
        return ok(L.H5Tarray_create2(build(words), len(dims), (ct.c_uint64 * len(dims))(*dims)))
    if word == 'enum':
        count = int(next(words))
        made = ok(L.H5Tenum_create(build(words)))
        for _ in range(count):
            name, value = bytes.fromhex(next(words)), bytes.fromhex(next(words))
            ok(L.H5Tenum_insert(made, name, value))
        return made
    if word == 'vlen':
        return ok(L.H5Tvlen_create(build(words)))
    if word == 'text':
        made = ok(L.H5Tcopy(I.in_dll(L, 'H5T_C_S1_g').value))
        ok(L.H5Tset_size(made, ct.c_size_t(-1).value))
        ok(L.H5Tset_strpad(made, int(next(words))))
        ok(L.H5Tset_cset(made, int(next(words))))
        return made
    if word == 'complex':
        return ok(L.H5Tcomplex_create(build(words)))
    raise SystemExit('unknown recipe ' + word)


def committed(bound, datatype):
    if bound not in FILES:
        plist = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        plist.set_fapl_core(1 << 20, False)
        plist.set_libver_bounds(getattr(h5py.h5f, 'LIBVER_' + bound.upper().replace('V10', 'V1')), h5py.h5f.LIBVER_LATEST)
        FILES[bound] = h5py.h5f.create(bound.encode(), h5py.h5f.ACC_TRUNC, fapl=plist)
    file = FILES[bound].id
    ok(L.H5Tcommit2(file, b't', datatype, 0, 0, 0))
    opened = ok(L.H5Topen2(file, b't', 0))
    ok(L.H5Ldelete(file, b't', 0))
    return opened


def convert(source, target, count, data, background):
    source, target, count, data = decode(source), decode(target), int(count), bytes.fromhex(data)
    size = L.H5Tget_size(target) * count
    buffer = ct.create_string_buffer(data, max(size, len(data)) + 64)
    under = ct.create_string_buffer(bytes.fromhex(background), size + 64)
    try:
        ok(L.H5Tconvert(source, target, count, buffer, under, 0))
    finally:
        L.H5Tclose(source)
        L.H5Tclose(target)
    return buffer.raw[:size].hex()


class Vlen(ct.Structure):
    _fields_ = [('length', S), ('data', P)]


def convert_vlen(source, target, lengths, data=''):
    source, target, data = decode(source), decode(target), bytes.fromhex(data)
    lengths = [int(length) for length in lengths.split(',')]
    before, after = L.H5Tget_size(source), L.H5Tget_size(target)
    pieces, at = [], 0
    for length in lengths:
        pieces.append(ct.create_string_buffer(data[at:at + length * before], length * before + 8))
        at += length * before
    values = (Vlen * len(lengths))(*[Vlen(length, ct.addressof(piece)) for length, piece in zip(lengths, pieces)])
    ok(L.H5Tconvert(ok(L.H5Tvlen_create(source)), ok(L.H5Tvlen_create(target)), len(lengths), values, None, 0))
    return b''.join(ct.string_at(value.data, value.length * after) for value in values if value.length).hex()


def answer(line):
    verb, *words = line.split()
    try:
        if verb == 'decode':
            datatype = decode(words[0])
            text = encode(datatype)
            L.H5Tclose(datatype)
            return text
        if verb == 'build':
            datatype = build(iter(words[1:]))
            return encode(datatype if words[0] == '-' else committed(words[0], datatype))
        if verb == 'equal':
            return str(ok(L.H5Tequal(decode(words[0]), decode(words[1]))))
        if verb == 'convert':
            return convert(*words)
        if verb == 'vlen':
            return convert_vlen(*words)
    except Failed:
        return 'error'
    raise SystemExit('unknown request ' + verb)


for request in open(sys.argv[1]):
    print(answer(request), flush=True)
