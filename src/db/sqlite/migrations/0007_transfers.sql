CREATE INDEX `transfers_wallet` ON `transfers` (`wallet_id`);--> statement-breakpoint
CREATE INDEX `transfers_in` ON `transfers` (`wallet_id`,`kind`,`amount`) WHERE kind IN (1, 5);