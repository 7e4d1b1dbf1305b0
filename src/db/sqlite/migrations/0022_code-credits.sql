ALTER TABLE `redeem_codes` ADD `source` text;--> statement-breakpoint
ALTER TABLE `redeem_codes` ADD `credit_days` integer;