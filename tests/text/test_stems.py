"""Words made comparable."""

from areopage.text.stemming import parted, stem, stems


def test_the_fast_cut_into_words_agrees_with_the_exact_one() -> None:
    text = "L’école (d'été), rue-de-Paris : 1,000.50 € ; « œuvre » — naïve… v2.0/bêta"
    assert len(parted(text)) == len(text)
    assert stems(text) == [
        found
        for found in map(stem, ["école", "été", "rue", "Paris", "1", "000", "50", "œuvre", "naïve", "v2", "0", "bêta"])
        if found
    ]
