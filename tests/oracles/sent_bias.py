"""The 46 published tests, as checksums of the data release of May et al. 2019.

Of the files tests/*.jsonl of github W4ngatang/sent-bias; `make test-shared` computes them again from the files.
"""

from __future__ import annotations

CONTENT = {
    "weat1": "040188a51c55e992dc4bcc33da7a1b0d0c8a0a862e40f582af02cbae26379499",
    "sent-weat1": "847f1d4a44b087d400fdad62d053b13624ae047ef1d334b4ba50308243f6a141",
    "weat2": "18fe316f5e5a0d25108c9a22b5c1c0f64617d50d0225e26d7b11086dec479d2a",
    "sent-weat2": "9bce179c1847c0ac7e7b212b9e258e59474e86c2d91ac7b10a20d3198bfee3d1",
    "weat3": "737ad1c6eee5d0730f0efbbc2bc7ef77b7ee0e4495fe867b7f101ab0dc23436c",
    "sent-weat3": "b1be706bc5d2fbe3b39e099b2218c532a02ba5b47a251a8f541b8d9851b07086",
    "weat3b": "ae96158ceb44d99d4d0aa6cd1dc227085467d6c2aa9018ee119a374afb40feeb",
    "sent-weat3b": "f3a4dee6eea3b22f562c2166e94ad345480d54d911b30f40634173cc3dd42d69",
    "weat4": "4dcf87d0287eb98de3571a0102e9e5f720b6b098dc08f3004c6124812941521c",
    "sent-weat4": "84c9122242a767fb58f5e7cfa70a2cc05c6440f8af398eaea6ae82cd2747125e",
    "weat5": "05c1261cc90b6d27ef1b916c0a1ce536d8de3cc55f2ca46d09bd387048472395",
    "sent-weat5": "73046df95cdb2ed18b3f9a0c103205e6e30547741d25047dd05ddfe5cce8a92a",
    "weat5b": "ca4730c766dd5307c70f93ca8ebf6d7072c0bfe3389e1bb289d33c058cd5a16b",
    "sent-weat5b": "52976787242410b8c926ecca4c67c4a174e2abadad02870939e16400afbb70db",
    "weat6": "0de69ad4a0643f8f6a2f926bfbd72fb63b3839d9b0c0dd1942c618a33264c6b9",
    "sent-weat6": "c6fdcac5d74b910485cda15159280c9e1252b021473bde736666d4a6a3dc884e",
    "weat6b": "c49a4663d2b02fdf34f724b08cc201018bb0eeaf27f864f148ff641fc4190205",
    "sent-weat6b": "745c4434ba4148fa1849f5b842784c738bd123df3a09099d2bf9a07712fa67d7",
    "weat7": "b288ecf5cd4579b9b81def50d7452902de6ccc90c48448b11a3a66ed1e5e73c6",
    "sent-weat7": "cc27e4962d6e6354b0bc458dba25ac9d6421a8fbd3a4edd51e3f1626d3537991",
    "weat7b": "4d01a39cad0c1d1fed577e3e485d44cae7e90726e0309f966041c964169a1e45",
    "sent-weat7b": "9a934110fcb96b457a88272f2f1da8d55343314b60a58bb61f4b9b1d08c22e49",
    "weat8": "2543ab4f64dd7558b7f925fb4209050c1169f402db2acbcad4274d0ecefb6784",
    "sent-weat8": "cec061ba4f521e323c6e4bea8d654982523a8cc8de195e19a1b417f348218cc4",
    "weat8b": "a08dabd6459f6b8be831b1e3b228e3d9c5b2dd72ab3beaff15dcbc104926acdd",
    "sent-weat8b": "40c471db27ae4bd92bcd346e23f9c8f22cc68a407d27cabb6c1b3e1e7a3a1889",
    "weat9": "adf5a2cce1c2fcd1d1a9702ec1bb7f35ce704d38638cfe1f8d2b3f5a4d027057",
    "sent-weat9": "4916fcb1a8de1a6577ac3d3b56a91eb1f2e1182508b6885115a943c37e282f25",
    "weat10": "93a39d0213c54f1c996bd907f76c175c469ad66c93174593d78ad4cb42e7f31f",
    "sent-weat10": "1c56c43dbc52c413cf721c30045f6ec86f064a051da3d72c1fe6e38c9e61c4c9",
    "angry_black_woman_stereotype": "88bb6ec4f0a2594ae6bd7fbd810e4190e49f067f3ae5ff8b501a0ac118058695",
    "sent-angry_black_woman_stereotype": "8b46957d236e9548cef9fee42c0ab3a94405e22c00b71f0119c53d61826d4a38",
    "angry_black_woman_stereotype_b": "b81d54ddf9e1dd4edee4f199e8b318aca38defa593e48a2cafe1d06c7efd0f8f",
    "sent-angry_black_woman_stereotype_b": "7b41aceb476039bac3b4fbde37e96a5c427f08c8686347fb781851f3ffd1eb26",
    "heilman_double_bind_competent_1": "409b172b6e0370bccff7d61c73e2b6425849393d82b5b4faa7d995fcad2654c1",
    "heilman_double_bind_competent_1+3-": "9d3bfe83b0a018ac3577d5b1dfc68471e6d8e27db902bb31d04fe1abd13225ed",
    "heilman_double_bind_competent_1-": "468a6cfb482270afd641fa01f5ebba318affc33fd63931e139aa343f60019547",
    "heilman_double_bind_competent_one_sentence": "980fa704152be7994e8a3b6ce1a2c9e48b47de21c2064b46560a21b1f8ffbc7e",
    "heilman_double_bind_competent_one_word": "34a0e724b6f05acd70f8fd81cc6b7cd59abeac3bbe2a495756e1229440306835",
    "sent-heilman_double_bind_competent_one_word": "35236e1ac8d634dd1d8ed9f1534111a3ee8818943c446a82a77f9010c9fc50fb",
    "heilman_double_bind_likable_1": "416650475a5dc88b2ce78fac81e3dc2402c41285629a08da9e5a504d8bdb12ba",
    "heilman_double_bind_likable_1+3-": "65c9a0b6350ca3a54c91bc3a0db236f9d74d26a48f9190b81a2f3e977a072def",
    "heilman_double_bind_likable_1-": "58dd2d15ced02375c4bbb353e3c0d7469cc6cd4d8c542582edb5fe617484874f",
    "heilman_double_bind_likable_one_sentence": "5c8d4194976b4db9c27b2d08ff8c47fc7b834526a0ef624f2d8fce3c20ccd499",
    "heilman_double_bind_likable_one_word": "79e1b918876b8a2bca69f76f2f0beb46925932f505bd6e9973b54c40a5613d65",
    "sent-heilman_double_bind_likable_one_word": "3962f2cb1d566bb76e93013c67c7662f812bad55dc55cd2caa1af2bd6b4dac58",
}
"""By test: `checksum` of the JSON object in its file."""

WEAT1_BYTES = "c12c192a4b8011590cfe7de237cb2e0dbcd0e7328e3b7baf63869ccfd61bc0ea"
"""SHA-256 of the file weat1.jsonl as it is, layout included."""
