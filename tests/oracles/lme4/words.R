# The outside numbers of tests/reliability/agreement/test_word_scores.py, from R's lme4: the mean score of a word over
# base pairs and seeds, both random and crossed, and its standard error.
#   apt-get install r-base-core r-cran-lme4
#   cd tests/oracles/lme4 && Rscript words.R > expected_words.tsv
suppressMessages(library(lme4))
cat("# R", as.character(getRversion()), "lme4", as.character(packageVersion("lme4")), "\n")
cat("word\tmean\terror\tpair\tseed\tresidual\n")
control <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-14, ftol_abs = 1e-16, maxeval = 1e5),
                       check.conv.singular = "ignore")
scores <- read.delim("words.tsv")
for (word in unique(scores$word)) {
  m <- lmer(score ~ 1 + (1 | pair) + (1 | seed), scores[scores$word == word, ], control = control)
  v <- as.data.frame(VarCorr(m))
  parts <- sapply(c("pair", "seed", "Residual"), function(group) v$vcov[v$grp == group])
  cat(sprintf("%s\t%.10g\t%.10g\t%.6g\t%.6g\t%.6g\n", word, fixef(m)[[1]], sqrt(vcov(m)[1, 1]), parts[1], parts[2], parts[3]))
}
