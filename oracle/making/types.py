"""Random datatypes of all classes, and random values of them in the form that libhdf5 wants in memory."""

import ctypes

from .library import C, Refused

INTEGER, FLOAT, TIME, STRING, BITFIELD, OPAQUE, COMPOUND, REFERENCE, ENUM, VLEN, ARRAY, COMPLEX = range(12)
VARIABLE = 2**64 - 1
NATIVE_VLEN = 16


def any_type(rng, depth=0, heap=True, references=False):
    """A datatype. Without heap, values are nothing but their bytes."""
    makers = [integer] * 4 + [float_] * 3 + [string, bitfield, opaque, time, enum, complex_]
    if depth < 3:
        makers += [compound, compound, array]
        if heap:
            makers += [vlen, vlen_string]
    if heap and references:
        makers += [reference]
    while True:
        try:
            return rng.choice(makers)(rng, depth, heap, references)
        except Refused:
            pass  # some numbers do not go together


def plain_number(rng):
    """An integer or float that fills its bytes, as most files have them."""
    names = "STD_I8 STD_U8 STD_I16 STD_U16 STD_I32 STD_U32 STD_I64 STD_U64 IEEE_F32 IEEE_F64".split()
    return C.H5Tcopy(C.known("H5T_" + rng.choice(names) + rng.choice(["LE", "BE"])))


def integer(rng, *_):
    made = C.H5Tcopy(C.known("H5T_STD_" + rng.choice("IU") + rng.choice(["8", "16", "32", "64"]) + rng.choice(["LE", "BE"])))
    if rng.random() < 0.25:
        C.H5Tset_size(made, rng.choice([1, 2, 3, 5, 6, 7, 8, 9, 12, 16, 17]))
    narrow(rng, made)
    return made


def narrow(rng, made):
    """Makes some of a number's bits padding."""
    if rng.random() < 0.3:
        bits = 8 * C.H5Tget_size(made)
        precision = rng.randint(max(1, bits // 2), bits) if rng.random() < 0.8 else rng.randint(1, bits)
        C.H5Tset_precision(made, precision)
        C.H5Tset_offset(made, rng.randint(0, bits - precision))
        C.H5Tset_pad(made, rng.randint(0, 1), rng.randint(0, 1))


def float_(rng, *_):
    kind = rng.random()
    if kind < 0.6:
        names = ["IEEE_F16", "IEEE_F32", "IEEE_F64", "FLOAT_BFLOAT16"]
        return C.H5Tcopy(C.known("H5T_" + rng.choice(names) + rng.choice(["LE", "BE"])))
    if kind < 0.8:
        names = ["VAX_F32", "VAX_F64", "NATIVE_LDOUBLE", "FLOAT_F8E4M3", "FLOAT_F8E5M2"]
        return C.H5Tcopy(C.known("H5T_" + rng.choice(names)))
    made = C.H5Tcopy(C.known("H5T_IEEE_F64" + rng.choice(["LE", "BE"])))
    if kind < 0.85:
        # 128 bits as IEEE has them
        C.H5Tset_size(made, 16)
        C.H5Tset_precision(made, 128)
        C.H5Tset_fields(made, 127, 112, 15, 0, 112)
        C.H5Tset_ebias(made, 16383)
        return made
    exponent, mantissa, low = rng.randint(3, 10), rng.randint(4, 30), rng.randint(0, 9)
    C.H5Tset_fields(made, low + mantissa + exponent, low + mantissa, exponent, low, mantissa)
    C.H5Tset_offset(made, low)
    C.H5Tset_precision(made, 1 + exponent + mantissa)
    C.H5Tset_size(made, rng.randint((low + mantissa + exponent) // 8 + 1, 8))
    C.H5Tset_ebias(made, (1 << exponent - 1) - 1)
    C.H5Tset_norm(made, rng.randint(0, 2))
    C.H5Tset_inpad(made, rng.randint(0, 1))
    return made


def string(rng, *_):
    made = C.H5Tcopy(C.known("H5T_C_S1"))
    C.H5Tset_size(made, rng.choice([1, 2, 7, 8, 40]))
    C.H5Tset_strpad(made, rng.randint(0, 2))
    C.H5Tset_cset(made, rng.randint(0, 1))
    return made


def vlen_string(rng, *_):
    made = C.H5Tcopy(C.known("H5T_C_S1"))
    C.H5Tset_size(made, VARIABLE)
    C.H5Tset_strpad(made, rng.randint(0, 2))
    C.H5Tset_cset(made, rng.randint(0, 1))
    return made


def bitfield(rng, *_):
    made = C.H5Tcopy(C.known("H5T_STD_B" + rng.choice(["8", "16", "32", "64"]) + rng.choice(["LE", "BE"])))
    narrow(rng, made)
    return made


def opaque(rng, *_):
    made = C.H5Tcreate(OPAQUE, rng.randint(1, 20))
    C.H5Tset_tag(made, bytes(rng.choices(b"abc xyz", k=rng.randint(0, 30))))
    return made


def time(rng, *_):
    return C.H5Tcopy(C.known("H5T_UNIX_D" + rng.choice(["32", "64"]) + rng.choice(["LE", "BE"])))


def complex_(rng, *_):
    return C.H5Tcomplex_create(float_(rng))


def enum(rng, *_):
    base = integer(rng)
    made = C.H5Tenum_create(base)
    values = {rng.randbytes(C.H5Tget_size(base)) for _ in range(rng.randint(1, 5))}
    for nth, value in enumerate(sorted(values)):
        C.H5Tenum_insert(made, f"name {nth} é".encode()[: rng.randint(6, 9)].strip(), value)
    return made


def compound(rng, depth, heap, references):
    members = [any_type(rng, depth + 1, heap, references) for _ in range(rng.choice([1, 2, 3, 3, 9]))]
    gaps = [rng.choice([0, 0, 1, 5]) for _ in members]
    made = C.H5Tcreate(COMPOUND, sum(gaps) + sum(C.H5Tget_size(member) for member in members) + rng.choice([0, 3]))
    places, at = [], 0
    for member, gap in zip(members, gaps):
        places.append((at + gap, member))
        at += gap + C.H5Tget_size(member)
    if rng.random() < 0.2:
        rng.shuffle(places)
    for nth, (offset, member) in enumerate(places):
        C.H5Tinsert(made, b"m" * rng.randint(0, 12) + str(nth).encode(), offset, member)
    return made


def array(rng, depth, heap, references):
    dims = [rng.randint(1, 3) for _ in range(rng.choice([1, 1, 2, 4]))]
    base = any_type(rng, depth + 1, heap, references)
    return C.H5Tarray_create2(base, len(dims), (ctypes.c_uint64 * len(dims))(*dims))


def vlen(rng, depth, heap, references):
    return C.H5Tvlen_create(any_type(rng, depth + 1, heap, references))


def reference(rng, *_):
    return C.H5Tcopy(C.known("H5T_STD_REF" + rng.choice(["_OBJ", "_DSETREG", ""])))


def has_class(datatype, wanted):
    """Whether the type or a part of it is of one of these classes; variable-length strings count as sequences."""
    kind = C.H5Tget_class(datatype)
    if kind == STRING and C.H5Tis_variable_str(datatype):
        kind = VLEN
    if kind in wanted:
        return True
    if kind == COMPOUND:
        members = range(C.H5Tget_nmembers(datatype))
        return any(has_class(C.H5Tget_member_type(datatype, nth), wanted) for nth in members)
    return kind in (VLEN, ARRAY, ENUM, COMPLEX) and not is_text(datatype) and has_class(C.H5Tget_super(datatype), wanted)


def is_text(datatype):
    return C.H5Tget_class(datatype) == STRING


# References of the revised kind keep their file open until they are destroyed.
OPEN_REFERENCES = []


def close_file(file):
    while OPEN_REFERENCES:
        C.H5Rdestroy(OPEN_REFERENCES.pop())
    C.H5Fclose(file)


class Values:
    """Makes values; keeps alive what they point at. What references may name is told at the start."""

    def __init__(self, rng, targets=()):
        self.rng, self.targets, self.alive = rng, list(targets), []

    def several(self, datatype, count):
        """Values of which many are equal, so that filters have something to do."""
        few = [self.one(datatype) for _ in range(min(count, self.rng.choice([1, 3, 20])))]
        if self.rng.random() < 0.5:
            return b"".join(self.rng.choices(few, k=count)) if count else b""
        return b"".join(few[nth * len(few) // count] for nth in range(count))

    def one(self, datatype):
        size = C.H5Tget_size(datatype)
        if not has_class(datatype, (VLEN, REFERENCE)):
            return self.rng.randbytes(size) if self.rng.random() < 0.7 else bytes([self.rng.randrange(256)]) * size
        kind = C.H5Tget_class(datatype)
        if kind == STRING:
            return self.rng.choice([self.text, lambda: bytes(8)])()
        if kind == VLEN:
            count = self.rng.choice([0, 1, 2, 7])
            return self.pointer(self.several(C.H5Tget_super(datatype), count), count)
        if kind == ARRAY:
            base = C.H5Tget_super(datatype)
            return b"".join(self.one(base) for _ in range(size // C.H5Tget_size(base)))
        if kind == COMPOUND:
            value = bytearray(size)
            for nth in range(C.H5Tget_nmembers(datatype)):
                part, at = C.H5Tget_member_type(datatype, nth), C.H5Tget_member_offset(datatype, nth)
                value[at : at + C.H5Tget_size(part)] = self.one(part)
            return bytes(value)
        return self.reference(datatype, size)

    def text(self):
        words = "".join(self.rng.choices("abc é日 ", k=self.rng.choice([0, 1, 8, 300]))).encode()
        room = ctypes.create_string_buffer(words)
        self.alive.append(room)
        return ctypes.addressof(room).to_bytes(8, "little")

    def pointer(self, content, count):
        room = ctypes.create_string_buffer(content, len(content) + 1)
        self.alive.append(room)
        address = ctypes.addressof(room) if count else 0
        return count.to_bytes(8, "little") + address.to_bytes(8, "little")

    def reference(self, datatype, size):
        """A reference to one of the targets, or to nothing. A target: location, name, whether a dataset, attribute."""
        room = ctypes.create_string_buffer(size)
        if not self.targets or self.rng.random() < 0.2:
            return room.raw
        place, name, dims, attribute = self.rng.choice(self.targets)
        try:
            if C.H5Tequal(datatype, C.known("H5T_STD_REF_OBJ")):
                C.H5Rcreate(room, place, name, 0, -1)
            elif C.H5Tequal(datatype, C.known("H5T_STD_REF_DSETREG")):
                if dims:
                    C.H5Rcreate(room, place, name, 1, self.region(dims))
            else:
                self.revised(room, place, name, dims, attribute)
        except Refused:
            return bytes(size)
        self.alive.append(room)
        return room.raw

    def revised(self, room, place, name, dims, attribute):
        kind = self.rng.randrange(3)
        if kind == 1 and dims:
            C.H5Rcreate_region(place, name, self.region(dims), 0, room)
        elif kind == 2 and attribute:
            C.H5Rcreate_attr(place, name, attribute, 0, room)
        else:
            C.H5Rcreate_object(place, name, 0, room)
        OPEN_REFERENCES.append(room)

    def region(self, dims):
        space = C.H5Screate_simple(len(dims), (ctypes.c_uint64 * len(dims))(*dims), None)
        boxed = ctypes.c_uint64 * len(dims)
        kind = self.rng.randrange(4)
        if kind == 0 or 0 in dims:
            return space
        if kind == 1:
            points = [[self.rng.randrange(dim) for dim in dims] for _ in range(3)]
            flat = [at for point in points for at in point]
            C.H5Sselect_elements(space, 0, 3, (ctypes.c_uint64 * len(flat))(*flat))
            return space
        for nth in range(kind):
            start = [self.rng.randrange(dim) for dim in dims]
            block = [self.rng.randint(1, dim - at) for dim, at in zip(dims, start)]
            C.H5Sselect_hyperslab(space, 1 if nth else 0, boxed(*start), None, boxed(*[1] * len(dims)), boxed(*block))
        return space
