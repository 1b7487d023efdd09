"""`encodings:` reads what others write, each format as its own library writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.messages import mentions, naming

from weatherglass.encoders.encodings import FORMATS, EncodingsEncoder, read_encodings, write_encodings
from weatherglass.encoders.spec import Spec
from weatherglass.errors import UnsafeFileError, VectorFileError, WeatherglassError

TEXTS = ["This is a rose.", "wasp", "café, naïve – 漢字", "and/or", "category"]
VECTORS = np.random.default_rng(5).normal(size=(5, 7))


def encoder(target: Path | str) -> EncodingsEncoder:
    return EncodingsEncoder.from_spec(Spec("encodings", str(target)))


def published_layout(path: Path, with_category: bool) -> None:
    """As the code of May et al. leaves it: `file[set][text] = vector`, later with `file[set]["category"]`."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for start, name in enumerate(("targ1", "targ2", "attr1", "attr2")):
            group = file.create_group(name)
            if with_category:
                group["category"] = f"Set {start}"
            for text, vector in zip(TEXTS[start:4], VECTORS[start:4], strict=True):
                group[text] = vector.astype(np.float32)


def npz(path: Path) -> None:
    np.savez(path, texts=np.array(TEXTS), vectors=VECTORS)


def safetensors(path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"vectors": VECTORS}, path, metadata={"texts": json.dumps(TEXTS)})


def parquet(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("polars")
    parquet.write_table(pyarrow.table({"text": TEXTS, "vector": [list(row) for row in VECTORS]}), path)


def hdf5(path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["texts"] = TEXTS
        file["vectors"] = VECTORS


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.npz": npz,
    "a.safetensors": safetensors,
    "a.parquet": parquet,
    "a.h5": hdf5,
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_format_gives_back_the_vectors_by_text(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    vectors = encoder(tmp_path / name).encode(TEXTS[::-1])
    np.testing.assert_array_equal(vectors, VECTORS[::-1])


@pytest.mark.parametrize("with_category", [False, True])
def test_both_layouts_of_the_published_code_are_read(tmp_path: Path, with_category: bool) -> None:
    published_layout(tmp_path / "bert.weat1.h5", with_category)
    model = encoder(tmp_path / "bert.weat1.h5")
    np.testing.assert_array_equal(model.encode(TEXTS[:4]), VECTORS[:4].astype(np.float32))
    assert [covered.missing for covered in model.coverage(["Set 0", "wasp"])] == [("Set 0",), ()]


def test_a_text_called_category_is_told_from_the_name_of_the_set(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_group("targ1")["category"] = VECTORS[0]
        file.create_group("targ2")["category"] = "Insects"
    np.testing.assert_array_equal(encoder(tmp_path / "a.h5").encode(["category"]), VECTORS[:1])


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path, suffix: str, dtype: Any) -> None:
    pytest.importorskip("h5py")
    pytest.importorskip("polars")
    path = tmp_path / f"a{suffix}"
    vectors = VECTORS.astype(dtype)
    vectors[1] = np.nan
    write_encodings(path, TEXTS, vectors, "hf:some/model?pooling=mean")
    encoded = read_encodings(path)
    assert encoded.texts == TEXTS
    assert encoded.model == "hf:some/model?pooling=mean"
    assert encoded.vectors.dtype == dtype
    np.testing.assert_array_equal(encoded.vectors, vectors)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_safetensors_file_has_one_order_and_a_checksum(tmp_path: Path, dtype: Any) -> None:
    """The library writes the entries of the metadata in an order that changes from run to run."""
    path = tmp_path / "a.safetensors"
    write_encodings(path, TEXTS, VECTORS.astype(dtype), "m")
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert list(header["__metadata__"]) == ["sha256", "texts", "model"]
    np.testing.assert_array_equal(read_encodings(path).vectors, VECTORS.astype(dtype))
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(VectorFileError, match=naming(str(path), "checksum")):
        read_encodings(path)


def test_a_text_that_is_not_in_the_file_is_nan_and_listed(tmp_path: Path) -> None:
    npz(tmp_path / "a.npz")
    model = encoder(tmp_path / "a.npz")
    vectors = model.encode(["wasp", "absent"])
    assert np.isfinite(vectors[0]).all()
    assert np.isnan(vectors[1]).all()
    (covered,) = model.coverage(["absent"])
    assert covered.missing == ("absent",)
    assert mentions(covered.note, "file")


def test_the_files_of_a_folder_or_pattern_are_one_model(tmp_path: Path) -> None:
    write_encodings(tmp_path / "bert.weat1.npz", TEXTS[:3], VECTORS[:3], "")
    write_encodings(tmp_path / "bert.weat2.npz", TEXTS[2:], VECTORS[2:], "")
    for target in (str(tmp_path), f"{tmp_path}/bert.*"):
        np.testing.assert_array_equal(encoder(target).encode(TEXTS), VECTORS)


def test_two_vectors_for_one_text_are_an_error(tmp_path: Path) -> None:
    write_encodings(tmp_path / "a.npz", ["wasp"], VECTORS[:1], "")
    write_encodings(tmp_path / "b.npz", ["wasp"], VECTORS[1:2], "")
    with pytest.raises(VectorFileError, match=naming(tmp_path / "b.npz", "'wasp'", "different")):
        encoder(tmp_path).encode(["wasp"])


def test_the_record_says_which_model_made_the_file(tmp_path: Path) -> None:
    write_encodings(tmp_path / "a.npz", TEXTS, VECTORS, "hf:some/model")
    assert mentions(encoder(tmp_path / "a.npz").notes()[0], "5 texts", "hf:some/model")


def test_identity_is_that_of_the_content(tmp_path: Path) -> None:
    npz(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes((tmp_path / "a.npz").read_bytes())
    write_encodings(tmp_path / "c.npz", TEXTS, VECTORS + 1, "")
    a, b, c = (encoder(tmp_path / f"{name}.npz").identity() for name in "abc")
    assert a == b != c


class TellTale:
    """Unpickled, it creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_a_pickle_inside_npz_is_refused_and_does_not_run(tmp_path: Path) -> None:
    payload = tmp_path / "it ran"
    objects = np.array([TellTale(payload)], dtype=object)
    np.savez(tmp_path / "a.npz", texts=objects, vectors=VECTORS[:1])
    with pytest.raises(UnsafeFileError, match=naming(tmp_path / "a.npz", "pickled objects")):
        encoder(tmp_path / "a.npz").encode(["x"])
    assert not payload.exists()


def damaged(tmp_path: Path, what: str) -> Path:
    path = tmp_path / "a.npz"
    if what == "too few vectors":
        np.savez(path, texts=np.array(TEXTS), vectors=VECTORS[:4])
    elif what == "one dimension":
        np.savez(path, texts=np.array(TEXTS), vectors=VECTORS[:, 0])
    elif what == "infinite":
        np.savez(path, texts=np.array(TEXTS), vectors=np.where(VECTORS[1, 2] == VECTORS, np.inf, VECTORS))
    elif what == "no texts":
        np.savez(path, vectors=VECTORS)
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "cut off":
        npz(path)
        path.write_bytes(path.read_bytes()[:300])
    return path


@pytest.mark.parametrize(
    ("what", "facts"),
    [
        ("too few vectors", ["5 texts", "4 vectors"]),
        ("one dimension", ["5", "float64"]),
        ("infinite", ["'wasp'", "finite"]),
        ("no texts", ["'texts'", "vectors"]),
        ("empty", ["npz", "safetensors", "parquet", "HDF5"]),
        ("cut off", ["damaged"]),
        ("absent", ["file"]),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_with_its_name(
    tmp_path: Path, what: str, facts: list[str]
) -> None:
    with pytest.raises(WeatherglassError) as caught:
        encoder(damaged(tmp_path, what)).encode(["wasp"])
    assert mentions(str(caught.value), "a.npz", *facts)
    assert "\n" not in str(caught.value)


def test_ragged_vectors_are_told_with_the_text(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        group = file.create_group("targ1")
        group["a rose"], group["wasp"] = VECTORS[0], VECTORS[1][:3]
    with pytest.raises(VectorFileError, match=naming(tmp_path / "a.h5", "'wasp'", 3, "'a rose'", 7)):
        encoder(tmp_path / "a.h5").encode(["wasp"])
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table({"text": ["a", "b"], "vector": [[1.0, 2.0], [1.0]]}), tmp_path / "a.parquet"
    )
    with pytest.raises(VectorFileError, match=naming(tmp_path / "a.parquet", "'b'", 1, 2)):
        encoder(tmp_path / "a.parquet").encode(["a"])
