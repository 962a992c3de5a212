"""The laws in a suite of your own: pytest examples/test_my_decoder.py

One test a law, and a Hypothesis state machine over live caches.
"""

from my_decoder import MyDecoder

import cachecheck
from cachecheck.strategies import cache_machine


@cachecheck.parametrize_with_laws(MyDecoder)
def test_my_decoder(law):
    law()


TestCaches = cache_machine(MyDecoder).TestCase
