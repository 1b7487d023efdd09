# The outside numbers of tests/reliability/test_regression.py, from R's lme4.
#   apt-get install r-base-core r-cran-lme4
#   cd tests/oracles/lme4 && Rscript lme4.R > expected.tsv
# R-squared after Nakagawa and Schielzeth (2013), the formula of MuMIn::r.squaredGLMM for random intercepts.
suppressMessages(library(lme4))
cat("# R", as.character(getRversion()), "lme4", as.character(packageVersion("lme4")), "\n")
cat("data\tmodel\tquantity\tname\tvalue\n")

control <- lmerControl(optimizer = "nloptwrap", optCtrl = list(xtol_abs = 1e-12, ftol_abs = 1e-14, maxeval = 1e5),
                       check.conv.singular = "ignore")

prepare <- function(path) {
  d <- read.delim(path, na.strings = "")
  d <- d[complete.cases(d), ]
  d$log_freq <- as.vector(scale(log(d$frequency)))
  d$log_freq_squared <- d$log_freq^2
  d$log_senses <- as.vector(scale(log(d$senses)))
  for (name in c("nn_similarity", "l2_norm", "stability")) d[[name]] <- as.vector(scale(d[[name]]))
  d$pos <- relevel(factor(d$pos), "adj")
  if ("rule" %in% names(d)) d$rule <- relevel(factor(d$rule), "dbwa")
  d
}

say <- function(...) cat(sprintf("%s\t%s\t%s\t%s\t%.10g\n", ...), sep = "")

r_squared <- function(m) {
  fixed <- var(as.vector(model.matrix(m) %*% fixef(m)))
  v <- as.data.frame(VarCorr(m))
  random <- sum(v$vcov[v$grp != "Residual"])
  residual <- v$vcov[v$grp == "Residual"]
  c(marginal = fixed, conditional = fixed + random) / (fixed + random + residual)
}

report <- function(data, model, m) {
  se <- sqrt(diag(as.matrix(vcov(m))))
  ci <- confint(m, method = "Wald", parm = "beta_")
  for (name in names(fixef(m))) {
    say(data, model, "estimate", name, fixef(m)[[name]])
    say(data, model, "se", name, se[[name]])
    say(data, model, "low", name, ci[name, 1])
    say(data, model, "high", name, ci[name, 2])
  }
  v <- as.data.frame(VarCorr(m))
  for (i in seq_len(nrow(v))) say(data, model, "variance", v$grp[i], v$vcov[i])
  r2 <- r_squared(m)
  for (name in names(r2)) say(data, model, "r2", name, r2[[name]])
  say(data, model, "rows", "", nobs(m))
}

for (data in c("test_retest", "inter_rater")) {
  d <- prepare(paste0(data, ".tsv"))
  terms <- list(rule = "rule", `log freq` = c("log_freq", "log_freq_squared"), `log senses` = "log_senses",
                pos = "pos", `nn similarity` = "nn_similarity", `l2 norm` = "l2_norm",
                `embedding stability` = "stability")
  if (data == "inter_rater") terms$rule <- NULL
  for (model in c("as published", "with word")) {
    random <- c("(1|algorithm)", "(1|corpus)", if (model == "with word") "(1|word)")
    fit <- function(fixed) lmer(reformulate(c(fixed, random), "score"), d, control = control)
    whole <- fit(unlist(terms))
    report(data, model, whole)
    for (factor in names(terms)) {
      change <- r_squared(whole) - r_squared(fit(unlist(terms[names(terms) != factor])))
      for (name in names(change)) say(data, model, paste("change", name), factor, change[[name]])
    }
  }
}
